// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/native.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <string_view>
#include <utility>

#include "reduce/handlers/digest.h"
#include "reduce/handlers/include/tributary-handler.h"
#include "reduce/handlers/trial.h"
#include "wire/element.h"

namespace tributary::reduce {
namespace {

using Description = struct ::tributary_handler;

constexpr std::uint32_t alignment_max = 64;
constexpr std::size_t name_max = 64;

// Code that was compiled by -ffast-math takes small floats for zero from its loading on, in the
// thread that loads it and in those that it starts then: everybody's sums would change.
class SameFloats {
 public:
  SameFloats() { std::fegetenv(&before_); }
  ~SameFloats() { std::fesetenv(&before_); }
  SameFloats(const SameFloats&) = delete;
  SameFloats& operator=(const SameFloats&) = delete;

 private:
  std::fenv_t before_{};
};

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

class Native final : public Handler {
 public:
  Native(Library library, const Description& description, wire::ElementType type,
         std::uint64_t mark)
      : library_(std::move(library)),
        description_(description),
        name_(description.name),
        type_(type),
        mark_(mark) {}

  void combine(void* accumulator, const void* elements, std::size_t n) const override {
    if (is_aligned(accumulator) && is_aligned(elements)) {
      description_.combine(accumulator, elements, n);
    } else {
      combine_copies(static_cast<std::byte*>(accumulator), static_cast<const std::byte*>(elements),
                     n);
    }
  }
  wire::ElementType type() const override { return type_; }
  const std::string& name() const override { return name_; }
  std::uint64_t mark() const override { return mark_; }
  bool is_native() const override { return true; }

 private:
  // No packet has more elements than fit here.
  static constexpr std::size_t piece_bytes = 16384;
  struct Piece {
    alignas(alignment_max) std::byte bytes[piece_bytes];
  };

  bool is_aligned(const void* address) const {
    return (reinterpret_cast<std::uintptr_t>(address) & (description_.alignment - 1)) == 0;
  }

  void combine_copies(std::byte* to, const std::byte* from, std::size_t n) const {
    Piece ours;
    Piece theirs;
    const std::size_t element_bytes = description_.element_bytes;
    while (n > 0) {
      const auto elements = std::min(n, piece_bytes / element_bytes);
      const auto bytes = elements * element_bytes;
      std::memcpy(ours.bytes, to, bytes);
      std::memcpy(theirs.bytes, from, bytes);
      description_.combine(ours.bytes, theirs.bytes, elements);
      std::memcpy(to, ours.bytes, bytes);
      to += bytes;
      from += bytes;
      n -= elements;
    }
  }

  Library library_;  // is destroyed after what lies in it
  const Description& description_;
  std::string name_;
  wire::ElementType type_;
  std::uint64_t mark_;
};

bool is_name(const char* name) {
  const std::string_view text = name == nullptr ? "" : name;
  const auto is_printable = [](char letter) { return letter >= ' ' && letter <= '~'; };
  return !text.empty() && text.size() <= name_max &&
         std::all_of(text.begin(), text.end(), is_printable);
}

// Returns what is wrong with it, or nothing if it may be called.
std::string complaint_about(const Description& description) {
  if (description.version != TRIBUTARY_HANDLER_VERSION) {
    return "it is of version " + std::to_string(description.version) +
           " of tributary-handler.h, and this is version " +
           std::to_string(TRIBUTARY_HANDLER_VERSION) + "; compile it again with this one's header";
  }
  if (!is_name(description.name)) {
    return "its name has to be 1 to " + std::to_string(name_max) + " printable characters";
  }
  const auto type = wire::element_type_of(description.type == nullptr ? "" : description.type);
  if (!type) {
    return "its type is none of " + wire::listed(wire::element_type_names);
  }
  if (description.element_bytes != wire::element_bytes(*type)) {
    return "its elements have " + std::to_string(description.element_bytes) +
           " bytes, and those of " + std::string(wire::name(*type)) + " have " +
           std::to_string(wire::element_bytes(*type)) + "; choose the type that fits";
  }
  if (!std::has_single_bit(description.alignment) || description.alignment > alignment_max) {
    return "its alignment has to be a power of two, at most " + std::to_string(alignment_max) +
           ", not " + std::to_string(description.alignment);
  }
  return description.combine == nullptr ? "it has no combine; give it one" : "";
}

tl::unexpected<std::string> refuse(const std::string& path, const std::string& why) {
  return tl::make_unexpected("cannot load " + path + " as a handler: " + why);
}

// The dynamic linker takes what it has loaded under a name for what is asked for by that name,
// though another file may have come in its place since, or what was closed may have stayed. So each
// content has a name of its own: for each bit of its mark there is a `./` or a `.//` in the path.
std::string name_of_its_own(const std::string& file, std::uint64_t mark) {
  const auto folder_end = file.rfind('/') + 1;
  auto name = file.substr(0, folder_end);
  for (; mark != 0; mark >>= 1) {
    name += mark % 2 != 0 ? ".//" : "./";
  }
  return name + file.substr(folder_end);
}

// Returns the linker's error for people, who know the file by its path.
std::string last_dl_error(const std::string& name, const std::string& path) {
  const char* const error = dlerror();
  const std::string text = error != nullptr ? error : "no reason is known";
  return text.starts_with(name) ? path + text.substr(name.size()) : text;
}

}  // namespace

tl::expected<std::unique_ptr<Handler>, std::string> open_native(const std::string& path) {
  // A name without a folder would be looked for among the system's libraries.
  const auto file = path.find('/') == std::string::npos ? "./" + path : path;
  const auto mark = digest_of_file(file);
  if (!mark) {
    return refuse(path, mark.error());
  }
  const auto name = name_of_its_own(file, *mark);
  const SameFloats floats;
  Library library(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library == nullptr) {
    return refuse(path, last_dl_error(name, path) +
                            "; a handler is compiled with -shared -fPIC for this "
                            "machine, and linked with all that it needs");
  }
  const auto* const description =
      static_cast<const Description*>(dlsym(library.get(), "tributary_handler"));
  if (description == nullptr) {
    return refuse(path, "it has no tributary_handler; define one as tributary-handler.h shows");
  }
  if (const auto complaint = complaint_about(*description); !complaint.empty()) {
    return refuse(path, complaint);
  }
  const auto type = *wire::element_type_of(description->type);
  std::unique_ptr<Handler> handler =
      std::make_unique<Native>(std::move(library), *description, type, *mark);
  if (const auto complaint = try_out(*handler, description->identity); !complaint.empty()) {
    return refuse(path, complaint);
  }
  return handler;
}

}  // namespace tributary::reduce
