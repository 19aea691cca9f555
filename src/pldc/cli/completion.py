"""Completion of the shell's words, as a script for bash; zsh reads it, too."""

from __future__ import annotations

import argparse

SCRIPT = """\
# pldc: put this line into ~/.bashrc or ~/.zshrc:  source <(pldc completion)
[ -n "$ZSH_VERSION" ] && autoload -U +X bashcompinit && bashcompinit
_pldc() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}"
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "{commands} --version --help" -- "$word")); return; fi
  local options=""
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options --help" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _pldc pldc
"""


def completion(parser: argparse.ArgumentParser) -> int:
    """Print the script."""
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    lines = []
    for name, command in commands.choices.items():
        options = sorted(word for action in command._actions for word in action.option_strings if word.startswith("--"))
        lines.append(f'    {name}) options="{" ".join(options)}" ;;')
    print(SCRIPT.format(commands=" ".join(commands.choices), cases="\n".join(lines)), end="")
    return 0
