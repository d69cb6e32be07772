// SPDX-License-Identifier: BSD-3-Clause
// [switch.echo].
#include <string>

#include "control/protocol_section.h"
#include "echo/echo.h"

namespace tributary::echo {
namespace {

void read(control::Reader& reader, control::SwitchDraft& out) {
  auto& echo = out.config.protocols.emplace<EchoConfig>();
  reader.integer("added", echo.added, {1u, 1000u});
}

void check(control::SwitchDraft&, control::Diagnostics&) {}

void list(control::SettingTexts& out, const std::string& path,
          const switching::SwitchConfig& config) {
  out[path + " added"] = {std::to_string(config.protocols.get<EchoConfig>().added)};
}

}  // namespace

extern const control::ProtocolSection config_section;
constexpr control::ProtocolSection config_section{
    .name = "echo", .read = read, .check = check, .list = list};

}  // namespace tributary::echo
