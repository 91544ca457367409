#!/bin/sh
# Generates secrets: the users of the Redis server with their passwords (server.acl), the address of the server for
# commands (redis.url) and for each role (redis.web.url and so on), and a token for the API (web.token).
#
#   deploy/secrets.sh [FOLDER [SERVER [VERSION]]]
#
# Defaults: FOLDER deploy/secrets, SERVER server:6379. VERSION 6.2: rules that Redis 6.2 knows.
#
# Existing files are not changed. Put your own secrets into the same folder: model.key and telegram.token.
set -eu

folder=${1:-$(dirname "$0")/secrets}
server=${2:-server:6379}
version=${3:-7}
users=$(dirname "$0")/valkey/users.acl

random() {
    head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n'
}

umask 077
mkdir -p "$folder"
# Other users cannot enter the folder. Its files are readable by any user inside a container.
chmod 700 "$folder"
umask 022

if [ -e "$folder/server.acl" ] && [ -e "$folder/redis.agent.url" ]; then
    echo "kept $folder/server.acl and the addresses of its users"
elif [ -e "$folder/server.acl" ] || [ -e "$folder/redis.url" ]; then
    echo "$folder: server.acl and the files redis.*url contain the same passwords, but some of these files are missing. Remove all of them, or restore the missing files." >&2
    exit 1
else
    # Only shell builtins, because every user of the machine can see the arguments of other commands.
    while read -r _ user rules; do
        if [ "$user" != default ]; then
            password=$(random)
            role=${user#millpond}
            printf 'redis://%s:%s@%s/0\n' "$user" "$password" "$server" >"$folder/redis${role:+.${role#-}}.url"
            rules="on >$password ${rules#on >PASSWORD }"
        fi
        printf 'user %s %s\n' "$user" "$rules"
    done <"$users" >"$folder/server.acl"
    if [ "$version" = 6.2 ]; then
        sed -i.bak 's/ %R~/ ~/g' "$folder/server.acl"
        rm "$folder/server.acl.bak"
    fi
    echo "created $folder/server.acl, and a file with the address of the server for commands and for each role"
fi

if [ -e "$folder/web.token" ]; then
    echo "kept $folder/web.token"
else
    random >"$folder/web.token"
    echo "created $folder/web.token"
fi

for name in model.key telegram.token; do
    [ -e "$folder/$name" ] || echo "missing: $folder/$name"
done
