# SPDX-License-Identifier: BSD-3-Clause
# Completion for bash: `source tools/completion/tributary-pktgen.bash`.

_tributary_pktgen() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local types="f32 f64 f16 bf16 i8 i16 i32 i64 i4 f8e4m3 f8e5m2 f32_i32 f64_i32 i32_i32 i64_i32 all"
  local operators="sum min max prod and or xor land lor lxor minloc maxloc all"
  case $previous in
    --file | --json | --csv | --config | -c) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --type) mapfile -t COMPREPLY < <(compgen -W "$types" -- "$current"); return ;;
    --op) mapfile -t COMPREPLY < <(compgen -W "$operators" -- "$current"); return ;;
    --idle) mapfile -t COMPREPLY < <(compgen -W "adaptive poll" -- "$current"); return ;;
    --hugepages) mapfile -t COMPREPLY < <(compgen -W "auto never always" -- "$current"); return ;;
    --encapsulation) mapfile -t COMPREPLY < <(compgen -W "udp ethernet" -- "$current"); return ;;
    --port)
      mapfile -t COMPREPLY < <(compgen -S = -W "interface tap memif vhost virtio_user pci ring pcap-tx pcap-rx device" \
        -- "$current")
      return
      ;;
  esac
  if [[ $current == -* ]]; then
    # What --help lists for the command so far.
    local options
    options=$("${COMP_WORDS[0]}" "${COMP_WORDS[@]:1:2}" --help 2>/dev/null | grep -oE -- '--[a-z-]+')
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif ((COMP_CWORD <= 2)); then
    local commands
    commands=$("${COMP_WORDS[@]:0:COMP_CWORD}" --help 2>/dev/null \
      | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
  fi
}
complete -F _tributary_pktgen tributary-pktgen
