#!/bin/sh
# Generates secrets: a password for the Redis server, as a list of its users (server.acl) and as the address for
# Millpond (redis.url), and a token for the API (web.token).
#
#   deploy/secrets.sh [FOLDER [SERVER]]      Defaults: FOLDER deploy/secrets, SERVER server:6379
#
# Existing files are not changed. Put your own secrets into the same folder: model.key and telegram.token.
set -eu

folder=${1:-$(dirname "$0")/secrets}
server=${2:-server:6379}

random() {
    head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n'
}

umask 077
mkdir -p "$folder"
# Other users cannot enter the folder. Its files are readable by any user inside a container.
chmod 700 "$folder"
umask 022

if [ -e "$folder/server.acl" ] && [ -e "$folder/redis.url" ]; then
    echo "kept $folder/server.acl and $folder/redis.url"
elif [ -e "$folder/server.acl" ] || [ -e "$folder/redis.url" ]; then
    echo "$folder: server.acl and redis.url contain the same password, but only one is there. Remove it or restore the other one." >&2
    exit 1
else
    password=$(random)
    # The user may access keys and channels with the prefix mp and receive invalidation messages, but not configure the
    # server. bgrewriteaof is allowed because it removes forgotten data from the server's files.
    cat >"$folder/server.acl" <<EOF
user default off
user millpond on >$password ~mp:* resetchannels &mp:* &__redis__:invalidate +@all -@admin -@dangerous +info +bgrewriteaof +client|id +client|tracking
EOF
    printf 'redis://millpond:%s@%s/0\n' "$password" "$server" >"$folder/redis.url"
    echo "made $folder/server.acl and $folder/redis.url"
fi

if [ -e "$folder/web.token" ]; then
    echo "kept $folder/web.token"
else
    random >"$folder/web.token"
    echo "made $folder/web.token"
fi

for name in model.key telegram.token; do
    [ -e "$folder/$name" ] || echo "missing: $folder/$name"
done
