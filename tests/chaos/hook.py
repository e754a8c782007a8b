"""On the host: pause a Python program just before one of its calls, until the controller lets it continue.

A ``.pth`` line of the host's Python runs this file, so it is active in modules and in builds. ``plan.json`` names the
call to wait for; the file ``held`` reports that it was reached; the file ``go`` ends the wait.
"""


def _install(directory="/run/chaos"):
    import json
    import os
    import re
    import sys
    import time

    try:
        with open(directory + "/plan.json", encoding="utf-8") as stream:
            plan = json.load(stream)
    except (OSError, ValueError):
        return
    event_name, pattern = plan["event"], re.compile(plan.get("match", ""))
    seen = 0
    busy = False

    def chain():
        names, process = [], os.getpid()
        while process > 1:
            with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as stream:
                text = stream.read()
            names.append([process, text[text.index("(") + 1 : text.rindex(")")]])
            process = int(text.rpartition(")")[2].split()[1])
        return names

    def hook(event, arguments):
        nonlocal seen, busy
        if busy or (event != event_name and event_name != "*"):
            return
        text = " ".join(map(str, arguments))
        if not pattern.search(text):
            return
        busy = True
        try:
            seen += 1
            if event_name == "*":
                with open(directory + "/trace", "a", encoding="utf-8") as stream:
                    if not stream.tell():
                        # Both root and the build account write to this file.
                        os.fchmod(stream.fileno(), 0o666)
                    stream.write(f"{event}\t{text[:300]}\n")
            elif seen == plan.get("nth", 1):
                descriptor = os.open(directory + "/held", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
                os.write(descriptor, json.dumps({"chain": chain(), "call": f"{event} {text[:200]}"}).encode())
                os.close(descriptor)
                while not os.path.exists(directory + "/go"):
                    time.sleep(0.02)
        except OSError:
            # Another process is already paused, or the host is going down.
            pass
        finally:
            busy = False

    sys.addaudithook(hook)


_install()
