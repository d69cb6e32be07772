// SPDX-License-Identifier: BSD-3-Clause
#include "end_of_parse.h"

#include "exit_codes.h"

namespace tributary::apps {

int end_of_parse(const CLI::App& app, const CLI::ParseError& error) {
  // CLI11 looks for what is missing first, also where it is there, but misspelt.
  const auto unknown = app.remaining(true);
  const bool misspelt =
      error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) && !unknown.empty();
  const int status = misspelt ? app.exit(CLI::ExtrasError(unknown)) : app.exit(error);
  return status == 0 ? 0 : exit_usage;
}

}  // namespace tributary::apps
