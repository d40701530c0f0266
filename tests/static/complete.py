#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Asks a real shell, on a terminal of its own, what it completes.
  usage: complete.py bash|zsh SCRIPT FOLDER <lines     FOLDER: scratch, and its home
Each line of the input is typed, then all completions are inserted; what the command line is
then is a line of the output.
"""
import os
import pty
import select
import sys
import threading

SECONDS = 60

RC = {
    "bash": """
PS1= HISTFILE=
bind 'set bell-style none'
bind 'set enable-bracketed-paste off'
. {setup}
. {script}
bind '"\\C-t": insert-completions'
show() {{ printf '%s\\n' "$READLINE_LINE" >&{fd}; READLINE_LINE=; }}
bind -x '"\\C-o": show'
echo ready >&{fd}
""",
    "zsh": """
PS1= ; unsetopt beep prompt_cr prompt_sp; unset zle_bracketed_paste
. {setup}
fpath=({folder} $fpath)
autoload -U compinit && compinit -u -D
zle -C all complete-word _generic
zstyle ':completion:all::::' completer _all_matches _complete
zstyle ':completion:all:*' insert true
bindkey -e
bindkey '^T' all
show() {{ print -r -- "$BUFFER" >&{fd}; BUFFER=; zle redisplay; }}
zle -N show
bindkey '^O' show
echo ready >&{fd}
""",
}


def shell(kind, script, folder, fd):
    """Become the shell."""
    values = {"script": script, "folder": folder, "fd": fd, "setup": folder + "/setup"}
    rc = folder + ("/.zshrc" if kind == "zsh" else "/rc")
    with open(rc, "w", encoding="utf-8") as file:
        file.write(RC[kind].format(**values))
    env = {"PATH": os.environ["PATH"], "HOME": folder, "ZDOTDIR": folder, "TERM": "dumb",
           "LC_ALL": "C.UTF-8"}
    os.set_inheritable(fd, True)
    os.chdir(folder)
    args = [kind, "--rcfile", rc, "-i"] if kind == "bash" else [kind, "-d", "-i"]
    os.execvpe(kind, args, env)


def drain(terminal, said):
    """What it shows is of interest only if it never answers."""
    try:
        while data := os.read(terminal, 4096):
            said.append(data)
    except OSError:
        pass


def main():
    kind, script, folder = sys.argv[1], os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
    answers, fd = os.pipe()
    pid, terminal = pty.fork()
    if not pid:
        shell(kind, script, folder, fd)
    os.close(fd)
    said = []
    threading.Thread(target=drain, args=(terminal, said), daemon=True).start()
    reader = os.fdopen(answers, encoding="utf-8", errors="replace")

    def answer():
        if not select.select([reader], [], [], SECONDS)[0]:
            sys.exit(f"complete: {kind} does not answer: {b''.join(said)[-500:]!r}")
        line = reader.readline()
        if not line:
            sys.exit(f"complete: {kind} is gone: {b''.join(said)[-500:]!r}")
        return line.rstrip("\n")

    answer()
    for line in sys.stdin:
        os.write(terminal, line.rstrip("\n").encode() + b"\x14\x0f")
        print(answer(), flush=True)
    os.close(terminal)


main()
