# Prints, a line each, what the role's plan compares: whether nginx listens and starts at boot, whether the file of the
# password has its hash, and mode, owner and sha256 of each file that nginx reads. Changes nothing.
# Arguments: port, user name, salt, the file of the password, other files. The password is read from stdin.
port=$1 user=$2 salt=$3
shift 3
ss -Hltnp "sport = :$port" | grep -q '"nginx"' && echo listening
if [ -d /run/systemd/system ]; then
    systemctl -q is-enabled nginx && echo enabled
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
