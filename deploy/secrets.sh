#!/bin/sh
# Makes the secrets that nobody has to know: a password for the server, as a list of its users (server.acl) and as the
# address that Millpond connects to (redis.url), and a token for the API (web.token).
#
#   deploy/secrets.sh [FOLDER [SERVER]]      FOLDER: deploy/secrets; SERVER: server:6379
#
# What is there is left as it is. Put what others gave you beside it: model.key, and telegram.token.
set -eu

folder=${1:-$(dirname "$0")/secrets}
server=${2:-server:6379}

random() {
    head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n'
}

umask 077
mkdir -p "$folder"
# The folder keeps others out; its files can be read by whatever user a container runs them as.
chmod 700 "$folder"
umask 022

if [ -e "$folder/server.acl" ] && [ -e "$folder/redis.url" ]; then
    echo "kept $folder/server.acl and $folder/redis.url"
elif [ -e "$folder/server.acl" ] || [ -e "$folder/redis.url" ]; then
    echo "$folder: of server.acl and redis.url, which hold one password, only one is there; remove it or bring back the other" >&2
    exit 1
else
    password=$(random)
    # Keys and channels of the prefix mp, and what clients are told of changed keys; nothing that configures the server. What
    # was forgotten leaves its files when they are written anew (bgrewriteaof).
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
