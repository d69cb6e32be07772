# SPDX-License-Identifier: BSD-3-Clause
# Completion for bash: `source tools/completion/tributaryctl.bash`.

_tributaryctl() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local commands="status switch port class route bfd fdb vlan arp route6 neighbour6 engine job descriptor tree
    handler stalled drops counters watch metrics log-level doctor config fabric relay shutdown version"
  case $previous in
    --socket) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --timeout | --interval | --count | --limit | --switch) return ;;
    port) mapfile -t COMPREPLY < <(compgen -W "up down --switch --limit" -- "$current"); return ;;
    config) mapfile -t COMPREPLY < <(compgen -W "check diff reload" -- "$current"); return ;;
    tree) mapfile -t COMPREPLY < <(compgen -W "remove --switch --limit" -- "$current"); return ;;
    fabric) mapfile -t COMPREPLY < <(compgen -W "plan apply show remove watch" -- "$current"); return ;;
    plan | apply | show) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --env) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    --job) return ;;
    remove)
      [[ ${COMP_WORDS[COMP_CWORD - 2]} == fabric ]] &&
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
    handler) mapfile -t COMPREPLY < <(compgen -W "load list unload" -- "$current"); return ;;
    load | unload) mapfile -t COMPREPLY < <(compgen -W "$(seq 0 63)" -- "$current"); return ;;
    --expression) return ;;
    --type)
      mapfile -t COMPREPLY < <(compgen -W "f32 f64 f16 bf16 f8e4m3 f8e5m2 i8 i16 i32 i64" -- "$current")
      return
      ;;
    check | diff | reload) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    log-level)
      mapfile -t COMPREPLY < <(compgen -W "trace debug info warning error critical off" -- "$current")
      return ;;
    drops) mapfile -t COMPREPLY < <(compgen -W "--all --json" -- "$current"); return ;;
    watch)
      if [[ ${COMP_WORDS[COMP_CWORD - 2]} == fabric ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
      else
        mapfile -t COMPREPLY < <(compgen -W "--interval --count --json" -- "$current")
      fi
      return
      ;;
  esac
  if [[ ${COMP_WORDS[COMP_CWORD - 2]} == load && $current != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  elif [[ $current == -* && " ${COMP_WORDS[*]} " == *" handler load "* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "--expression --type --socket --json --timeout
      --help" -- "$current")
  elif [[ $current == -* && " ${COMP_WORDS[*]} " == *" fabric "* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "--env --job --force --skip-unreachable --interval
      --count --json --timeout --help" -- "$current")
  elif [[ $current == -* && " ${COMP_WORDS[*]} " == *" tree remove "* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "--force --socket --json --timeout --help" -- "$current")
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "--socket --json --timeout --help --version" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
  fi
}
complete -F _tributaryctl tributaryctl
