# SPDX-License-Identifier: BSD-3-Clause
# Completion for bash: `source tools/completion/tributaryctl.bash`.

_tributaryctl() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local commands="status switch port route bfd fdb arp engine job descriptor stalled drops
    counters watch log-level doctor config shutdown version"
  case $previous in
    --socket) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --timeout | --interval | --count | --limit | --switch) return ;;
    port) mapfile -t COMPREPLY < <(compgen -W "up down --switch --limit" -- "$current"); return ;;
    config) mapfile -t COMPREPLY < <(compgen -W "check diff reload" -- "$current"); return ;;
    check | diff | reload) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    log-level)
      mapfile -t COMPREPLY < <(compgen -W "trace debug info warning error critical off" -- "$current")
      return ;;
    drops) mapfile -t COMPREPLY < <(compgen -W "--all --json" -- "$current"); return ;;
    watch) mapfile -t COMPREPLY < <(compgen -W "--interval --count --json" -- "$current"); return ;;
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "--socket --json --timeout --help --version" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
  fi
}
complete -F _tributaryctl tributaryctl
