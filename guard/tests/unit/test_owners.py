"""Process ownership: no process can make the guard spare it or kill another user's process."""

import os
import signal
import typing as t
from pathlib import Path

import pytest
from sparkforge_guard import host, policy, settings, watch
from sparkforge_guard._shared.module_utils._core.errors import SparkforgeError

from guard.tests.machine import GIB, TOTAL, Machine, look_again, process

TERM, KILL = signal.SIGTERM, signal.SIGKILL
#: Units of two ordinary users.
MINE = "/user.slice/user-1001.slice/user@1001.service/app.slice/{}"
OTHERS = "/user.slice/user-1002.slice/user@1002.service/app.slice/{}"
ATTACKER, VICTIM = 1001, 1002


def protected(*processes: host.Process, rules: policy.Rules | None = None) -> set[int]:
    return policy.protected(processes, rules or policy.Rules(), 5, TOTAL)


def chosen(*processes: host.Process, lost: float = 0, rules: policy.Rules | None = None) -> set[int]:
    table = {process.pid: process for process in processes}
    groups = policy.groups(table, {}, rules or policy.Rules(), 5, TOTAL)
    group = policy.choose(groups, TOTAL, int(lost * GIB))
    return {member.pid for member in group.members} if group else set()


@pytest.mark.parametrize(("root", "changed", "expected"), [
    ("/", {}, "env"), ("/", {"st_uid": 1000}, ""), ("/", {"st_mode": 0o100775}, ""), ("/", {"st_mode": 0o100757}, ""),
    ("copy", {}, ""),
])  # fmt: skip
def test_file_of_the_display_is_writable_only_by_root(machine: Machine, tmp_path, monkeypatch, root, changed, expected):
    monkeypatch.setattr(host, "_mount", lambda _path: 1)
    (tmp_path / "copy/usr/bin").mkdir(parents=True)
    (tmp_path / "copy/usr/bin/env").write_bytes(b"")
    (machine.proc / "1/root").symlink_to(tmp_path / root)
    machine.start(900, "env", uid=ATTACKER)
    (machine.proc / "900/exe").symlink_to("/usr/bin/env")
    real = os.fstat

    def fstat(descriptor: int) -> t.Any:
        mode, inode, device, links, uid, *rest = real(descriptor)[:10]
        uid, mode = changed.get("st_uid", uid), changed.get("st_mode", mode)
        return os.stat_result((mode, inode, device, links, uid, *rest))

    monkeypatch.setattr(host.os, "fstat", fstat)
    assert machine.host._file(str(machine.proc / "900"), "env") == expected


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("/system.slice/ssh.service", "ssh.service"),
        ("/system.slice/system-ssh.slice/ssh@1.service", "ssh@1.service"),
        ("/user.slice/user-1000.slice/session-3.scope", "session-3.scope"),
        ("/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope", "app-x.scope"),
        ("/user.slice/user-1000.slice/user@1000.service/app.slice", "user@1000.service"),
        ("/user.slice/user-1000.slice/user@1000.service", "user@1000.service"),
        # Control groups that a unit creates within its own do not count.
        ("/system.slice/docker-0a.scope/system.slice/ssh.service", "docker-0a.scope"),
        ("/user.slice/user-1000.slice/session-3.scope/ssh.service", "session-3.scope"),
        ("/site.slice/user@1000.service/ssh.service", "user@1000.service"),
        ("/docker/0a/system.slice/ssh.service", ""),
        ("/", ""),
    ],
)
def test_unit_is_the_first_below_the_slices(path: str, unit: str):
    assert host.unit_of(path) == unit


def test_control_group_cannot_play_another_hierarchy(machine: Machine):
    machine.start(900, "vllm")
    for text, path in (
        ("0::/user.slice/a:name=systemd:/system.slice/ssh.service\n", "/user.slice/a:name?systemd:/"),
        ("0::/x.slice\n1:name=systemd:/system.slice/vllm.service\n", "/system.slice/vllm.service"),
        ("0::/user.slice/x\x1b]0;evil\x07\u202e\r.service\n", "/user.slice/x??0?evil?"),
    ):
        (machine.proc / "900/cgroup").write_text(text)
        machine.host._known.clear()
        vllm = machine.host.process(900, {}, False)
        assert vllm is not None and vllm.path.startswith(path)
        assert all(text.isascii() and text.isprintable() for text in (vllm.path, vllm.unit))


@pytest.mark.parametrize("first", ["/", "/init.scope", "/libpod_parent/libpod-0a/init.scope"])
def test_control_groups_begin_where_the_first_process_is(tmp_path: Path, first: str):
    (tmp_path / "proc/1").mkdir(parents=True)
    (tmp_path / "proc/meminfo").touch()
    (tmp_path / "proc/1/cgroup").write_text(f"1:name=systemd:{first}\n")
    begin = first.replace("/init.scope", "").rstrip("/")
    machine = Machine(tmp_path / "other")
    machine.start(900, "a", unit=f"{begin}/user.slice/user-1001.slice/session-1.scope")
    machine.start(901, "a", unit="/libpod_parent/libpod-0b/system.slice/ssh.service")
    machine.host._groups = host.Host(str(tmp_path / "proc"))._groups
    units = {pid: process.unit for pid, process in machine.host.processes({}, False).items()}
    assert units == {900: "session-1.scope", 901: ""}


@pytest.mark.parametrize("name", ["sshd", "tmux: server", "apt", "screen", "cron", "systemd-x", "sudo", "gnome-shell"])
def test_built_in_name_protects_only_root(name: str):
    assert protected(process(10, name, 90)) == {10}
    assert protected(process(10, name, 90, uid=ATTACKER, path=MINE.format("a.service"))) == set()
    assert protected(process(10, name, 90, uid=33, path="/system.slice/www.service")) == set()


def test_display_of_a_user_is_protected_by_its_file_while_it_holds_little():
    def shell(pid: int, own: float, exe: str = "gnome-shell", uid: int = ATTACKER) -> host.Process:
        return process(pid, "gnome-shell", own, uid=uid, exe=exe)

    assert protected(shell(10, 5)) == {10}
    assert protected(shell(10, 5, exe="")) == set()
    assert protected(shell(10, 7)) == set()
    # Twenty processes cannot be a display, and do not affect another user's.
    many = [shell(pid, 5) for pid in range(20, 40)]
    assert protected(*many, shell(10, 5, uid=VICTIM)) == {10}


@pytest.mark.parametrize(
    ("path", "uid", "expected"),
    [
        ("/system.slice/dbus.service", 101, True),
        ("/system.slice/systemd-resolved.service", 102, True),
        ("/init.scope", 0, True),
        ("/system.slice/ssh.service", 0, True),
        # Without pam_systemd, a user's processes remain in the login service's unit.
        ("/system.slice/ssh.service", ATTACKER, False),
        (MINE.format("ssh.service"), ATTACKER, False),
        (MINE.format("dbus.service"), ATTACKER, False),
        ("/user.slice/user-1001.slice/user@1001.service/init.scope", ATTACKER, False),
        ("/system.slice/jupyterhub.service/ssh.service", ATTACKER, False),
    ],
)
def test_unit_protects_where_it_is_the_systems(path: str, uid: int, expected: bool):
    assert bool(protected(process(10, "a", 90, uid=uid, path=path))) is expected


@pytest.mark.parametrize(
    ("patterns", "uid", "path", "expected"),
    [
        (("postgres*",), 0, "/", True),
        (("postgres*",), 111, "/system.slice/pg.service", True),
        (("postgres*",), ATTACKER, MINE.format("a.service"), False),
        (("postgres*",), ATTACKER, "/system.slice/jupyterhub.service", False),
        (("pg.service",), ATTACKER, "/system.slice/pg.service", True),
        (("pg.service",), ATTACKER, "/system.slice/pg.service/worker", True),
        (("pg.service",), ATTACKER, MINE.format("pg.service"), False),
        (("cron.service",), ATTACKER, "/system.slice/cron.service", False),
        ((OTHERS.format("pg.service"),), VICTIM, OTHERS.format("pg.service"), True),
        ((OTHERS.format("pg.service"),), VICTIM, OTHERS.format("pg.service/worker"), True),
        ((OTHERS.format("pg.service"),), ATTACKER, MINE.format("pg.service"), False),
    ],
)
def test_pattern_of_a_site_spares_what_the_system_runs_or_one_control_group(patterns, uid, path, expected):
    database, other = process(10, "postgres", 90, uid=uid, path=path), process(20, "other", 20, uid=VICTIM)
    assert bool(protected(database, rules=policy.Rules(protected=patterns))) is expected
    assert (chosen(database, other, lost=80, rules=policy.Rules(last=patterns)) == {20}) is expected


def test_first_pattern_may_name_a_users_unit():
    eater, worker = (
        process(10, "a", 50, uid=VICTIM),
        process(20, "b", 20, uid=ATTACKER, path=MINE.format("job.service")),
    )
    for pattern in ("job.service", "b", MINE.format("job.service"), "/user.slice/user-1001.slice"):
        assert chosen(eater, worker, lost=50, rules=policy.Rules(first=(pattern,))) == {20}


@pytest.mark.parametrize("name", ["protected", "last"])
def test_pattern_of_a_control_group_begins_at_the_root(name: str):
    chosen_settings = {**settings.DEFAULTS, name: ["*/jupyter.service"]}
    with pytest.raises(SparkforgeError, match="any user's"):
        settings.check(chosen_settings)
    settings.check({**chosen_settings, name: [OTHERS.format("jupyter.service")]})
    settings.check({**settings.DEFAULTS, "first": ["*/jupyter.service"]})


def test_build_of_a_user_is_spared_only_from_that_users_processes():
    build = process(10, "cicc", 60, uid=ATTACKER, path=MINE.format("a.service"))
    model = process(20, "model", 1, 40, uid=VICTIM)
    assert chosen(build, model, lost=60) == {10}
    assert chosen(build, model._replace(uid=ATTACKER), lost=60) == {20}
    assert chosen(build._replace(uid=0), model, lost=60) == {20}
    ours = process(10, "x", 60, uid=120, path="/system.slice/sparkforge-llvm-0a.service")
    assert chosen(ours, model, lost=60) == {20}


def test_process_group_is_split_by_account():
    workers = [
        process(pid, "worker", 20, uid=uid, group=10) for pid, uid in ((10, ATTACKER), (11, ATTACKER), (12, VICTIM))
    ]
    assert chosen(*workers, lost=60) == {10, 11}


def test_related_processes_belong_to_one_account(machine: Machine):
    # One user's seventy processes are killed as a bomb; another user's process with the same name and unit is spared.
    guard, now = machine.guard(), 1e9
    guard.step()
    machine.start(800, "python3", 8, at=now, unit=OTHERS.format("jupyter.service"), uid=VICTIM)
    mine = {"unit": MINE.format("jupyter.service"), "uid": ATTACKER}
    machine.start_many(range(1000, 1070), "python3", 1.55, at=now, step=1, **mine)
    guard.step()
    assert {pid for pid, number in machine.sent if number == KILL} == set(range(1000, 1070))
    machine.start(1100, "python3", 112, at=now + 2000, **mine)
    look_again(guard, 3)
    assert 800 in machine.sizes and 1100 not in machine.sizes
    small = [
        process(pid, "w", 1, uid=ATTACKER if pid % 2 else VICTIM, path=MINE.format("a.service"))
        for pid in range(20, 60)
    ]
    merged = policy.groups({member.pid: member for member in small}, {}, policy.Rules(), 5, TOTAL)
    assert sorted(member.uid for group in merged for member in group.members[:1]) == [ATTACKER, VICTIM]
    assert all(len({member.uid for member in group.members}) == 1 for group in merged)
    # Neither user took half of the lost memory, and the two are not counted together.
    assert policy.find_culprit(merged, int(41 * GIB)) is None


def test_reaper_of_a_bomb_is_roots_or_its_own():
    young = [process(pid, "sh", 1, uid=VICTIM)._replace(parent=90, start=50.0) for pid in range(200, 220)]
    for uid, expected in ((0, True), (VICTIM, True), (ATTACKER, False)):
        table = {process.pid: process for process in (*young, process(90, "systemd", uid=uid))}
        assert policy.is_bomb(young, table, 45.0) is expected


def test_status_is_read_to_its_end(machine: Machine):
    machine.start(900, "vllm", 30)
    status = machine.proc / "900/status"
    rows = status.read_text().replace(str(30 << 20), str(20 << 20)).splitlines()
    status.write_text("\n".join([rows[0], "Groups:\t" + " ".join(map(str, range(10000, 75536))), *rows[1:]]) + "\n")
    vllm = machine.host.process(900, {}, False)
    assert vllm is not None and vllm.own == 20 * GIB
    # If the status has no figures, the process's resident memory counts.
    status.write_text(rows[0] + "\n")
    vllm = machine.host.process(900, {}, False)
    assert vllm is not None and vllm.own == 30 * GIB


def test_process_whose_first_thread_exited_still_holds_its_memory(machine: Machine):
    machine.start(900, "vllm", 30, unit=MINE.format("a.service"), uid=ATTACKER)
    directory = machine.proc / "900"
    stat, status, group = ((directory / name).read_text() for name in ("stat", "status", "cgroup"))
    fields = stat.split()
    fields[2], fields[19], fields[22], fields[23] = "Z", "2", "0", "0"
    (directory / "stat").write_text(" ".join(fields))
    (directory / "status").write_text("Name:\tvllm\n")
    (directory / "cgroup").write_text("0::/system.slice/ssh.service (deleted)\n")
    assert machine.host.process(900, {}, False) is None
    for tid, state in ((900, "Z"), (901, "X"), (902, "S")):
        (directory / f"task/{tid}").mkdir(parents=True)
        fields = stat.split()
        fields[0], fields[2], fields[21] = str(tid), state, "5"
        (directory / f"task/{tid}/stat").write_text(" ".join(fields))
        (directory / f"task/{tid}/status").write_text(status)
        (directory / f"task/{tid}/cgroup").write_text(group)
    vllm = machine.host.process(900, {}, False)
    assert vllm is not None and (vllm.own, vllm.unit, vllm.start) == (30 * GIB, "a.service", 900.0)


def open_file(machine: Machine, pid: int, number: int, mebibytes: int, mount: int, named: bool = True) -> Path:
    """Give a process an open file, and return its path."""
    for name in ("fd", "fdinfo"):
        (machine.proc / f"{pid}/{name}").mkdir(exist_ok=True)
    path = machine.proc.parent / f"file-{pid}-{number}"
    path.write_bytes(b"\1" * (mebibytes << 20))
    os.sync()
    (machine.proc / f"{pid}/fd/{number}").symlink_to(path)
    (machine.proc / f"{pid}/fdinfo/{number}").write_text(f"pos:\t0\nflags:\t02\nmnt_id:\t{mount}\n")
    return path


def test_open_file_in_memory_counts_for_its_owner(machine: Machine):
    memfds, tmpfs, disk = machine.host._memfds, 4711, 4712
    (machine.proc / "1/mountinfo").write_text(
        f"{disk} 1 8:1 / / rw - ext4 /dev/sda rw\n{tmpfs} 1 0:5 / /dev/shm rw - tmpfs tmpfs rw\n"
    )
    me = os.geteuid()
    for pid, uid in ((900, me), (901, me), (902, me + 1), (903, me)):
        machine.start(pid, "a", uid=uid)
    both = open_file(machine, 900, 3, 3, memfds)
    (machine.proc / "901/fd").mkdir()
    (machine.proc / "901/fdinfo").mkdir()
    (machine.proc / "901/fd/7").symlink_to(both)
    (machine.proc / "901/fdinfo/7").write_text((machine.proc / "900/fdinfo/3").read_text())
    open_file(machine, 901, 3, 2, tmpfs)
    open_file(machine, 901, 4, 5, disk)
    # Reading another user's named file does not make a process its holder.
    open_file(machine, 902, 3, 4, tmpfs)
    table = machine.host.processes({}, False)
    sizes = {pid: size >> 20 for pid, size in machine.host.unmapped(table).items()}
    assert sizes == {900: 3, 901: 2}
    # The mapped part is already counted.
    mapped = {pid: process._replace(shared=1 << 20) for pid, process in table.items()}
    assert {pid: size >> 20 for pid, size in machine.host.unmapped(mapped).items()} == {900: 2, 901: 1}


def test_memfd_that_is_not_mapped_has_a_holder(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    machine.start(900, "vllm", 50, uid=VICTIM)
    machine.start(901, "attacker", 0.1, uid=ATTACKER)
    guard = machine.guard()
    monkeypatch.setattr(machine.host, "unmapped", lambda _table: {901: machine.shared} if machine.shared else {})
    guard.step()
    for size in range(10, 70, 2):
        machine.shared = size * GIB
        machine.write()
        guard.step()
        if machine.sent:
            break
    assert machine.sent == [(901, TERM)]


def test_exit_that_leaves_a_file_in_memory_kills_no_second_process(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    # The file outlives the killed process, so killing the process frees no memory.
    clock = watch.time.monotonic()
    monkeypatch.setattr(watch.time, "monotonic", lambda: clock)
    monkeypatch.setattr(
        machine.host, "unmapped", lambda table: {901: machine.shared} if machine.shared and 901 in table else {}
    )
    machine.start(900, "vllm", 0.1, 50, uid=VICTIM)
    machine.start(901, "attacker", 0.1, uid=ATTACKER)
    guard = machine.guard()
    guard.step()
    for size in range(3, 69, 3):
        machine.shared = size * GIB
        machine.write()
        clock += 0.1
        guard.step()
    assert machine.sent == [(901, TERM)]
    for _ in range(60):
        clock += 0.5
        guard._snapshots.rested = 0.0
        guard.step()
    assert machine.sent == [(901, TERM)]
    assert [act.kind for act in machine.acts if "no process holds" in act.why] == ["warn"]


@pytest.mark.parametrize("pause", [0.1, 40.0])
def test_unheld_shared_memory_kills_no_process_and_is_reported_once(machine: Machine, monkeypatch, pause):
    clock = watch.time.monotonic()
    monkeypatch.setattr(watch.time, "monotonic", lambda: clock)
    machine.start(900, "vllm", 0.1, 50, uid=VICTIM)
    machine.start(901, "trainer", 20, uid=ATTACKER)
    guard = machine.guard(policy.Rules(first=("vllm",)))
    guard.step()
    for size in range(2, 50, 2):
        machine.shared = size * GIB
        machine.write()
        clock += pause
        guard._snapshots.rested = 0.0
        guard.step()
    machine.shared = int(49.5 * GIB)
    for _ in range(20):
        machine.write()
        clock += 1
        guard._snapshots.rested = 0.0
        guard.step()
    assert machine.sent == []
    messages = [act.why for act in machine.acts if "no process holds" in act.why]
    assert len(messages) == 1 and "/dev/shm" in messages[0] and "GiB of shared" in messages[0]
    assert not any("no process may" in act.why for act in machine.acts)
    # A process that takes the rest of the memory is still killed.
    guard.rules = policy.Rules()
    machine.shared = 30 * GIB
    for size in (30, 36, 38.5):
        machine.start(901, "trainer", size, uid=ATTACKER)
        clock += 0.1
        guard._snapshots.rested = 0.0
        guard.step()
    assert {pid for pid, _number in machine.sent} == {901}


def test_old_shared_memory_does_not_hide_a_slow_culprit(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    clock = watch.time.monotonic()
    monkeypatch.setattr(watch.time, "monotonic", lambda: clock)
    guard = machine.guard()
    guard.step()
    machine.shared = 60 * GIB
    machine.start(900, "model", 0.1, 1, uid=VICTIM)
    for size in range(1, 60):
        clock += 30
        machine.start(900, "model", 0.1, size, uid=VICTIM)
        guard._snapshots.rested = 0.0
        guard.step()
        if machine.sent:
            break
    assert machine.sent == [(900, TERM)]


def test_snapshots_pause_while_no_process_may_be_killed(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    guard, reads, read = machine.guard(policy.Rules(protected=("postgres",))), [], machine.host.processes
    used = 0.0

    def slow(*arguments: t.Any) -> dict[int, host.Process]:
        nonlocal used
        reads.append(1)
        used += 10.0
        return read(*arguments)

    monkeypatch.setattr(machine.host, "processes", slow)
    monkeypatch.setattr(watch.time, "thread_time", lambda: used)
    machine.start(900, "postgres", 119)
    for _ in range(10):
        guard.step()
    assert machine.sent == [] and len(reads) <= 2


def test_name_is_what_a_terminal_may_show(machine: Machine):
    machine.start(900, "x")
    stat = machine.proc / "900/stat"
    stat.write_bytes(stat.read_bytes().replace(b"(x)", b"(a\r\x1b[2K\xe2\x80\xae)b)"))
    process_shown = machine.host.process(900, {}, False)
    assert process_shown is not None and process_shown.name == "a\ufffd\ufffd[2K\ufffd)b"
