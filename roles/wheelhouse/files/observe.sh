# Prints, a line each, what the role's plan compares: whether nginx listens and starts at boot, whether a unit would have it
# for itself (alone), whether the file of the password has its hash, and mode, owner and sha256 of each file that nginx and
# its unit read. Changes nothing.
# Arguments: port, user name, salt, the file of the password, other files. The password is read from stdin.
port=$1 user=$2 salt=$3
shift 3
# The name of another account's process is not shown to root everywhere; nginx's account has the same number on each host.
ss -Hltnpe "sport = :$port" | grep -Eq '"nginx"|uid:33 ' && echo listening
if [ -d /run/systemd/system ]; then
    systemctl -q is-enabled nginx && echo enabled
    # This role installed it, or will: then its default page lies beside the password. And nobody has another site.
    if [ ! -e /usr/sbin/nginx ] || [ -L "${1%/*}/default" ]; then
        others=$(find /etc/nginx/conf.d /etc/nginx/sites-enabled -mindepth 1 ! -name sparkforge-wheelhouse.conf 2>/dev/null)
        [ -z "$others" ] && echo alone
    fi
elif ls /etc/rc[2-5].d/S*nginx >/dev/null; then
    echo enabled
fi
if [ -n "$salt" ] && hashed=$(openssl passwd -6 -stdin -salt "$salt"); then
    [ "$(cat "$1")" = "$user:$hashed" ] && echo password
fi
for path; do
    [ -f "$path" ] && stat -c '%a %U:%G %n' "$path" && sha256sum "$path"
done
exit 0
