#!/bin/sh
# Installs, updates or removes Seller Platform on a Linux machine.
#
# Everything is checked before anything is changed, and running it again does
# no harm. Data, configuration and the service's account are never removed.
set -eu
umask 022

name=seller-platform
source_dir=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

prefix=''
binary=''
unit_for=''
require_sha256=no
dry_run=no
action=install

usage() {
    cat <<USAGE
usage: install.sh [options]

  --binary FILE   installs this executable instead of building one; where
                  FILE.sha256 lies beside it, only if it is the file meant there
  --require-sha256
                  stops unless FILE.sha256 lies beside --binary FILE
  --prefix DIR    puts every file below DIR and touches nothing else: no
                  account, no service (for packages and for trying)
  --uninstall     removes executable and service; keeps data and configuration
  --dry-run       says what would be done and changes nothing
  --print-unit EXE
                  prints the unit of the service for EXE (for packages)
  --print-standby-unit EXE
                  prints the unit of a standby for EXE
  --help          shows this text
USAGE
}

say() {
    printf '%s\n' "$*"
}

fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

wrong_usage() {
    printf 'install.sh: %s\n' "$*" >&2
    usage >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
        --binary | --prefix | --print-unit | --print-standby-unit)
            [ -n "${2:-}" ] || wrong_usage "$1 needs a value"
            case $1 in
                --binary) binary=$2 ;;
                --prefix) prefix=${2%/} ;;
                --print-unit) unit_for=$2 action=print_unit ;;
                --print-standby-unit) unit_for=$2 action=print_standby_unit ;;
            esac
            shift
            ;;
        --require-sha256) require_sha256=yes ;;
        --uninstall) action=uninstall ;;
        --dry-run) dry_run=yes ;;
        --help | -h)
            usage
            exit 0
            ;;
        *) wrong_usage "unknown option $1" ;;
    esac
    shift
done
# A bare name would be looked for in PATH.
case $binary in
    '' | */*) ;;
    *) binary=./$binary ;;
esac
if [ "$require_sha256" = yes ] && [ -z "$binary" ]; then
    wrong_usage "--require-sha256 is about --binary FILE"
fi

# Where things lie on the installed machine; below $prefix while installing.
exe=/usr/local/bin/$name
share=/usr/local/share/$name
config_dir=/etc/$name
config=$config_dir/$name.toml
state_dir=/var/lib/$name
unit=/etc/systemd/system/$name.service
# Installed beside it, and enabled by hand on a second machine only.
standby_unit=/etc/systemd/system/$name-standby.service
# What is known of the last version that was ready: its unit, and the SHA-256 of
# its executable.
unit_previous=$share/$name.service.previous
ready_mark=$share/ready.sha256

# Seconds that a new version gets from its start until it is ready.
patience=60

# Whether systemd runs here, and whether its units are installed at all.
systemd=no
unit_wanted=no
if [ -n "$prefix" ]; then
    unit_wanted=yes
elif command -v systemctl >/dev/null 2>&1; then
    unit_wanted=yes
    [ -d /run/systemd/system ] && systemd=yes
fi

# ---------------------------------------------------------------- small steps

has() {
    command -v "$1" >/dev/null 2>&1
}

# Runs a command, or says that it would.
run() {
    if [ "$dry_run" = yes ]; then
        say "would run: $*"
    else
        "$@"
    fi
}

# Writes standard input to a file with a mode, in one move.
write_file() { # PATH MODE
    if [ "$dry_run" = yes ]; then
        cat >/dev/null
        say "would write: $prefix$1 (mode $2)"
        return
    fi
    cat >"$prefix$1.partial"
    chmod "$2" "$prefix$1.partial"
    mv -f "$prefix$1.partial" "$prefix$1"
    say "wrote $prefix$1"
}

# Gives a path to an account; below a prefix there is none.
give() { # OWNER PATH
    [ -n "$prefix" ] || run chown "$1" "$2"
}

# Makes a folder of ours with a mode, or corrects the mode of one that is there.
own_folder() { # PATH MODE
    shared_folder "$1"
    run chmod "$2" "$prefix$1"
}

# Makes a folder that belongs to everybody, where there is none.
shared_folder() { # PATH
    [ -d "$prefix$1" ] || run mkdir -p "$prefix$1"
}

# Runs cargo, as the person behind sudo when there is one, so that nothing in
# the source folder comes to belong to root.
as_builder() {
    if [ "$(id -u)" -eq 0 ] && [ -n "${SUDO_USER:-}" ] && [ "$SUDO_USER" != root ]; then
        home=$(getent passwd "$SUDO_USER" | cut -d: -f6)
        sudo -u "$SUDO_USER" -H env PATH="$home/.cargo/bin:$PATH" "$@"
    else
        PATH="$HOME/.cargo/bin:$PATH" "$@"
    fi
}

# ---------------------------------------------------------------- what is installed

# The shipped configuration with the paths of an installed machine.
shipped_config() {
    sed -e "s|^#path = \"seller-platform.db\"|path = \"$state_dir/$name.db\"|" \
        "$source_dir/$name.toml"
}

service_unit() {
    cat <<UNIT
# Written by install.sh or the package, which replace it at each update. Changes
# of your own go into a drop-in: systemctl edit $name
[Unit]
Description=Seller Platform
Wants=network-online.target
After=network-online.target
# It is tried without an end: a fault that goes away heals by itself.
StartLimitIntervalSec=0

[Service]
# Ready means: migrated, listening, answering.
Type=notify
NotifyAccess=main
ExecStart=$exe --config $config serve
Restart=always
# With longer and longer pauses. Before systemd 254, which ignores the two lines
# (and says so), each pause is the first one.
RestartSec=5
RestartSteps=8
RestartMaxDelaySec=300
# Ended and started again when the database answers neither reads nor writes.
WatchdogSec=120
# A wrong command line does not get better by itself.
RestartPreventExitStatus=2
# A large database is copied before it is migrated.
TimeoutStartSec=15min
# Running requests get 10 seconds, then memory goes to disk.
TimeoutStopSec=60
# Only the server is asked to stop: Litestream sends the last writes after them.
KillMode=mixed

User=$name
Group=$name
StateDirectory=$name
StateDirectoryMode=0700
WorkingDirectory=$state_dir
UMask=0077

# Twice the open files that the default number of connections needs.
LimitNOFILE=8192
LimitCORE=0
MemoryMax=512M
TasksMax=256

NoNewPrivileges=yes
# For HTTPS of its own: ports below 1024, and nothing else. User namespaces
# (PrivateUsers=) would take it away again.
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
AmbientCapabilities=CAP_NET_BIND_SERVICE
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProcSubset=pid
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RemoveIPC=yes
KeyringMode=private
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
UNIT
}

# The unit of a standby: that of the service, which runs another command and stays
# ended after a takeover.
shipped_standby_unit() {
    service_unit | sed -e "s|systemctl edit $name\$|&-standby|" \
        -e 's|^Description=.*|&, standby|' \
        -e 's|^\(ExecStart=.*\) serve$|\1 standby|' \
        -e 's|^Restart=always|Restart=on-failure|' \
        -e 's|^# Ended and started again when .*|# Ended and started again when it does not answer probes.|'
}

# ---------------------------------------------------------------- checks

check_machine() {
    [ "$(uname -s)" = Linux ] || fail "this installs on Linux only"
    if [ -n "$prefix" ]; then
        case $prefix in
            /*) ;;
            *) fail "--prefix $prefix: give an absolute path" ;;
        esac
        above=$prefix
        while [ ! -e "$above" ]; do above=$(dirname -- "$above"); done
        if [ ! -d "$above" ] || [ ! -w "$above" ]; then
            fail "--prefix $prefix: $above cannot be written"
        fi
        return
    fi
    if [ "$(id -u)" -ne 0 ] && [ "$dry_run" = no ]; then
        fail "run this as root: sudo $0"
    fi
}

check_account() {
    [ -z "$prefix" ] || return 0
    if ! id "$name" >/dev/null 2>&1 && ! has useradd; then
        fail "there is no account $name and no useradd to make it; make a system account of that name first"
    fi
}

check_sources() {
    [ -f "$source_dir/$name.toml" ] ||
        fail "$source_dir/$name.toml is missing; run install.sh from the project's folder"
    shipped_config | grep -q "^path = \"$state_dir/" ||
        fail "$source_dir/$name.toml has no line #path = \"$name.db\"; restore the shipped file"
}

# The executable given, by the digest beside it: before it runs for the first time.
check_digest() {
    if [ ! -e "$binary.sha256" ]; then
        [ "$require_sha256" = no ] ||
            fail "$binary.sha256 is missing, so nobody knows whether this is the right file; nothing was changed"
        say "there is no $binary.sha256: the file is taken as it is"
        return
    fi
    has sha256sum || fail "sha256sum is missing, so $binary cannot be checked: apt-get install coreutils"
    # As sha256sum writes it, or the digest alone.
    wanted=$(sed -n '1{s/^\\*\([0-9A-Fa-f]\{64\}\)\([[:space:]].*\)\{0,1\}$/\1/p;}' "$binary.sha256" | tr A-F a-f)
    [ -n "$wanted" ] || fail "$binary.sha256 holds no SHA-256; nothing was changed"
    found=$(digest_of "$binary")
    [ "$found" = "$wanted" ] ||
        fail "$binary is not the file that $binary.sha256 means (wanted $wanted, found $found); fetch both again; nothing was changed"
    say "$binary is the file that $binary.sha256 means"
}

# The executable to install: the one given, or the one that a build will make.
check_executable() {
    if [ -n "$binary" ]; then
        [ -f "$binary" ] || fail "--binary $binary: there is no such file"
        check_digest
        [ -x "$binary" ] || fail "--binary $binary: not executable; run chmod +x on it"
        case $("$binary" --version 2>&1) in
            "$name "*) ;;
            *) fail "--binary $binary: it does not run here, or is another program" ;;
        esac
        return
    fi
    [ -f "$source_dir/Cargo.toml" ] ||
        fail "there is nothing to build in $source_dir; give a ready executable with --binary FILE"
    as_builder sh -c 'command -v cargo' >/dev/null 2>&1 ||
        fail "cargo is not installed: see https://rustup.rs, or give a ready executable with --binary FILE"
    has cc || fail "no C compiler: apt-get install gcc libc6-dev"
    [ -f "$(cc -print-file-name=libc.a)" ] || fail "no static C library: apt-get install libc6-dev"
}

build() {
    target=$(uname -m)-unknown-linux-gnu
    binary=$source_dir/target/$target/dist/$name
    if [ "$dry_run" = yes ]; then
        say "would build: $binary"
        return
    fi
    say "building a portable executable; this takes some minutes"
    as_builder env RUSTFLAGS='-C target-feature=+crt-static' cargo build --profile dist --locked \
        --manifest-path "$source_dir/Cargo.toml" --target-dir "$source_dir/target" --target "$target" ||
        fail "the build failed; nothing was changed"
}

# A new version must be able to read the configuration that is in use.
check_config() {
    [ -f "$prefix$config" ] && [ -x "$binary" ] || return 0
    "$binary" --config "$prefix$config" config show >/dev/null ||
        fail "the new version does not accept $prefix$config; correct it and run this again (nothing was changed)"
}

# ---------------------------------------------------------------- actions

make_account() {
    if [ -n "$prefix" ] || id "$name" >/dev/null 2>&1; then
        return 0
    fi
    run useradd --system --user-group --home-dir "$state_dir" --no-create-home \
        --shell /usr/sbin/nologin --comment 'Seller Platform' "$name"
}

# Whether the server is ready, asked with the executable that is being installed:
# an older one may not know how.
is_ready() {
    [ -x "$binary" ] && [ -f "$prefix$config" ] &&
        "$binary" --config "$prefix$config" healthcheck >/dev/null 2>&1
}

# Waits until the server is ready, or the patience is over.
wait_until_ready() {
    waited=0
    until is_ready; do
        [ "$waited" -lt "$patience" ] || return 1
        waited=$((waited + 1))
        sleep 1
    done
}

digest_of() { # PATH
    sha256sum "$1" | cut -d' ' -f1
}

# Whether somebody may be asked for the server of this machine.
may_ask() {
    [ "$systemd" = yes ] || [ -z "$prefix" ]
}

# Whether the installed version is or was ready; where nobody can know, it counts as good.
is_good() {
    if [ "$was_ready" = yes ] || ! may_ask || [ ! -f "$prefix$ready_mark" ]; then return 0; fi
    [ "$(cat "$prefix$ready_mark")" = "$(digest_of "$prefix$exe")" ]
}

# Copies a file to another name, in one move.
keep() { # FROM TO
    run cp -p "$prefix$1" "$prefix$2.partial"
    run mv -f "$prefix$2.partial" "$prefix$2"
}

# Keeps the installed version as the one to go back to, unless it never was ready
# and there is one already.
keep_previous() {
    if [ ! -f "$prefix$exe.previous" ] || is_good; then
        keep "$exe" "$exe.previous"
        [ ! -f "$prefix$unit" ] || keep "$unit" "$unit_previous"
    else
        say "kept $prefix$exe.previous: the installed version is not known to have been ready"
    fi
}

install_executable() {
    shared_folder /usr/local/bin
    if [ -f "$prefix$exe" ]; then
        if [ -f "$binary" ] && cmp -s "$binary" "$prefix$exe"; then
            say "$prefix$exe is this version already"
            return
        fi
        keep_previous
    fi
    if [ "$dry_run" = yes ]; then
        say "would install: $prefix$exe"
        return
    fi
    cp "$binary" "$prefix$exe.partial"
    chmod 755 "$prefix$exe.partial"
    give root:root "$prefix$exe.partial"
    mv -f "$prefix$exe.partial" "$prefix$exe"
    replaced=yes
    say "wrote $prefix$exe"
}

# Replaces the configuration only while it is as it was shipped.
install_config() {
    pristine=$share/$name.toml
    own_folder "$config_dir" 750
    give root:$name "$prefix$config_dir"
    if [ ! -f "$prefix$config" ] || cmp -s "$prefix$config" "$prefix$pristine" ||
        shipped_config | cmp -s - "$prefix$config"; then
        shipped_config | write_file "$config" 640
        give root:$name "$prefix$config"
    else
        say "kept $prefix$config, which you have edited; new settings are in $prefix$pristine"
    fi
    own_folder "$share" 755
    shipped_config | write_file "$pristine" 644
}

install_state() {
    own_folder "$state_dir" 700
    give $name:$name "$prefix$state_dir"
}

install_unit() {
    [ "$unit_wanted" = yes ] || return 0
    shared_folder /etc/systemd/system
    service_unit | write_file "$unit" 644
    shipped_standby_unit | write_file "$standby_unit" 644
}

# Whether this is a second machine, whose standby is enabled.
is_standby() {
    [ "$systemd" = yes ] &&
        [ -L "$prefix/etc/systemd/system/multi-user.target.wants/$name-standby.service" ]
}

# Starts the installed version and waits until it is ready; on a second machine its
# standby, which never is.
start_service() {
    [ "$systemd" = yes ] || return 0
    run systemctl daemon-reload
    if is_standby; then
        run systemctl restart $name-standby
        return 0
    fi
    run systemctl enable --quiet $name
    started=yes
    run systemctl restart $name || started=no
    [ "$dry_run" = no ] || return 0
    if wait_until_ready; then
        digest_of "$prefix$exe" | write_file "$ready_mark" 644
        return
    fi
    [ "$replaced" = yes ] ||
        fail "the service is not ready after $patience seconds; look at: journalctl -u $name -n 50"
    say "the new version is not ready after $patience seconds; its log: journalctl -u $name -n 50"
    if systemctl is-active --quiet $name; then started=yes; fi
    put_back
}

# As the service's account; below a prefix there is none.
as_service() {
    if [ -n "$prefix" ]; then
        "$@"
    else
        runuser -u $name -- "$@"
    fi
}

# The database in the configuration that is in use.
database_path() {
    "$binary" --config "$prefix$config" config show 2>/dev/null |
        sed -n '/^\[database\]$/,/^\[/s/^path = "\([^"]*\)".*/\1/p'
}

# The copy that the new version made of the database before it migrated.
copy_before_migration() {
    find "$(dirname -- "$1")" -maxdepth 1 -name '*.before-v*.db' -newer "$prefix$exe" | head -n 1
}

# Says how to go back by hand, and ends with a failure; the new version stays.
stay() { # COPY
    say "the database was migrated, and the previous version does not open it. To go back, and to"
    say "lose what was stored since (the present database is kept):"
    say "  systemctl stop $name"
    say "  $exe.previous --config $config restore $1      (as the account $name)"
    say "  cp -p $exe.previous $exe && cp $unit_previous $unit"
    say "  systemctl daemon-reload && systemctl start $name"
    fail "the new version stays, and is tried again and again"
}

# Goes back to the last version that was ready, and ends with a failure in any case.
put_back() {
    if [ ! -f "$prefix$exe.previous" ] || cmp -s "$prefix$exe.previous" "$prefix$exe"; then
        fail "there is no earlier version to go back to; the service is tried again and again"
    fi
    database=$(database_path)
    # It answers for a database of its own version or of an older one.
    if [ -f "$database" ] &&
        ! as_service "$prefix$exe.previous" --config "$prefix$config" migrate status >/dev/null 2>&1; then
        copy=$(copy_before_migration "$database")
        # Once it listened, it may have answered writes that the copy has not.
        [ "$started" = no ] && [ -n "$copy" ] || stay "${copy:-THE COPY MADE BEFORE}"
        systemctl stop $name || :
        as_service "$prefix$exe.previous" --config "$prefix$config" restore "$copy" || {
            systemctl start $name || :
            stay "$copy"
        }
    fi
    keep "$exe.previous" "$exe"
    [ ! -f "$prefix$unit_previous" ] || keep "$unit_previous" "$unit"
    systemctl daemon-reload
    systemctl restart $name || :
    if wait_until_ready; then
        fail "the previous version is back and ready; the new one was not installed"
    fi
    fail "the previous version is back, and is not ready either; look at: journalctl -u $name -n 50"
}

next_steps() {
    # Named, because a configuration in the present folder would come first.
    service_command="sudo -u $name $name --config $config"
    has sudo || service_command="runuser -u $name -- $name --config $config"
    say ''
    if [ "$dry_run" = yes ]; then
        say 'Nothing was changed.'
        return
    fi
    if is_standby; then
        say "The standby runs $("$prefix$exe" --version); its log: journalctl -u $name-standby -f"
        return
    fi
    if [ "$updating" = yes ] && [ "$systemd" = yes ]; then
        say "Updated from $before to $("$prefix$exe" --version); the service is ready."
        say "Its log: journalctl -u $name -f"
        return
    fi
    if [ -n "$prefix" ] && [ "$systemd" = no ]; then
        say "Everything lies below $prefix. Neither an account nor a service was made."
        return
    fi
    if [ "$systemd" = yes ]; then
        say "The service is ready; its log: journalctl -u $name -f"
    elif [ "$unit_wanted" = yes ]; then
        say "systemd does not run at the moment: the unit is installed, not started."
        say "  systemctl enable --now $name"
    else
        say "There is no systemd here, so nothing starts the service. Let your own supervisor run:"
        say "  $exe --config $config serve      (as the account $name, umask 077)"
    fi
    if [ "$updating" = yes ]; then
        say "Updated from $before to $("$prefix$exe" --version); start it again."
        return
    fi
    say 'Next:'
    say "  1. edit $config: at least server.base_url"
    [ "$systemd" = no ] || say "     then: systemctl restart $name"
    say "  2. $service_command check"
    say "  3. $service_command setup-link      (first installation: makes the administrator)"
    say "  4. keep a copy of $state_dir/$name.db.key elsewhere"
}

# What is installed so far, before anything is changed.
look_at_present() {
    updating=no
    was_ready=no
    replaced=no
    [ -f "$prefix$exe" ] || return 0
    updating=yes
    before=$("$prefix$exe" --version 2>/dev/null || echo "$name, unknown version")
    if may_ask && is_ready; then was_ready=yes; fi
}

do_install() {
    check_machine
    check_account
    check_sources
    check_executable
    [ -n "$binary" ] || build
    check_config
    look_at_present
    make_account
    install_state
    install_config
    install_executable
    install_unit
    start_service
    next_steps
}

do_uninstall() {
    check_machine
    if [ "$systemd" = yes ] && [ -f "$unit" ]; then
        run systemctl disable --now $name
    fi
    if is_standby; then
        run systemctl disable --now $name-standby
    fi
    for file in "$unit" "$standby_unit" "$unit_previous" "$exe" "$exe.previous" "$ready_mark" "$share/$name.toml"; do
        if [ -f "$prefix$file" ]; then
            run rm -f "$prefix$file"
            [ "$dry_run" = yes ] || say "removed $prefix$file"
        fi
    done
    [ ! -d "$prefix$share" ] || run rmdir "$prefix$share"
    [ "$systemd" = no ] || run systemctl daemon-reload
    say ''
    [ "$dry_run" = no ] || say 'Nothing was changed.'
    say "Kept: $prefix$state_dir (data) and $prefix$config_dir (configuration)."
    if [ -z "$prefix" ]; then
        say "To remove them and the service's account too, for ever:"
        say "  rm -r $state_dir $config_dir && userdel $name"
    fi
}

case $action in
    install) do_install ;;
    uninstall) do_uninstall ;;
    print_unit)
        exe=$unit_for
        service_unit
        ;;
    print_standby_unit)
        exe=$unit_for
        shipped_standby_unit
        ;;
esac
