// SPDX-License-Identifier: BSD-3-Clause
// This is the section [switch.echo].
#include <string>

#include "control/option_kinds.h"
#include "control/protocol_section.h"
#include "echo/echo.h"

namespace tributary::echo {
namespace {

constexpr control::Option<EchoConfig> options[] = {
    control::option::integer<&EchoConfig::added>("added", control::Apply::reload, {1, 1000},
                                                 "to the number of a packet"),
};

void read(control::Reader& reader, control::SwitchDraft& out) {
  control::read_options(reader, options, out.config.protocols.emplace<EchoConfig>());
}

void list(control::SettingTexts& out, const std::string& path,
          const switching::SwitchConfig& config) {
  control::list_options(out, path, options, config.protocols.get<EchoConfig>());
}

void describe(control::OptionTables& out) {
  control::describe_options<EchoConfig>(options, add_table(out, "[switch.echo]"));
}

}  // namespace

extern const control::ProtocolSection config_section;
constexpr control::ProtocolSection config_section{
    .name = "echo", .help = "what tests bring", .read = read, .list = list, .describe = describe};

}  // namespace tributary::echo
