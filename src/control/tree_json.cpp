// SPDX-License-Identifier: BSD-3-Clause
#include "control/tree_json.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "control/protocol_section.h"
#include "control/text.h"

namespace tributary::control {
namespace {

using nlohmann::json;

constexpr std::size_t name_bytes_max = 64;
constexpr std::size_t addresses_max = 65536;
constexpr std::size_t settings_max = 16;

// These functions read members, and return false where a value is none of their kind.

template <class T>
bool read_number(const json& value, T& out) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<T>::max()) {
    return false;
  }
  out = value.get<T>();
  return true;
}

bool read_name(const json& value, std::string& out) {
  if (!value.is_string() || value.get_ref<const std::string&>().empty() ||
      value.get_ref<const std::string&>().size() > name_bytes_max) {
    return false;
  }
  out = value.get<std::string>();
  return true;
}

bool read_optional_name(const json& value, std::optional<std::string>& out) {
  return value.is_null() || read_name(value, out.emplace());
}

constexpr std::string_view unspecified_text = "0.0.0.0";

// The unspecified address is one, too: it is anybody's.
bool read_address(const json& value, wire::IpAddress& out) {
  std::string text;
  if (!read_name(value, text)) {
    return false;
  }
  const auto parsed = parse_ip(text);
  out = parsed.value_or(wire::IpAddress{});
  return parsed || text == unspecified_text;
}

bool read_group(const json& value, wire::Ipv4Address& out) {
  std::string text;
  const auto parsed = read_name(value, text) ? parse_group(text) : parse_group("");
  out = parsed.value_or(wire::Ipv4Address{});
  return parsed.has_value();
}

template <class T>
bool read_list(const json& list, std::size_t most, bool (*read)(const json&, T&),
               std::vector<T>& out) {
  return list.is_array() && list.size() <= most &&
         std::all_of(list.begin(), list.end(),
                     [&](const json& value) { return read(value, out.emplace_back()); });
}
bool read_ports(const json& list, std::vector<std::string>& out) {
  return read_list(list, tree_children_max, read_name, out);
}
bool read_addresses(const json& list, std::vector<wire::IpAddress>& out) {
  return read_list(list, addresses_max, read_address, out);
}
bool read_address_lists(const json& lists, std::vector<std::vector<wire::IpAddress>>& out) {
  return read_list(lists, tree_children_max, read_addresses, out);
}

bool read_settings(const json& object, TreeSettings& out) {
  if (!object.is_object() || object.size() > settings_max) {
    return false;
  }
  for (const auto& [name, value] : object.items()) {
    if (!read_number(value, out[name])) {
      return false;
    }
  }
  return true;
}

// Reads the members of one tree; the first problem is kept.
class Members {
 public:
  explicit Members(const json& object) : object_(object) {}

  template <class T>
  void required(const char* key, T& out, bool (*read)(const json&, T&), const std::string& wanted) {
    const json* const value = find(key);
    if (value == nullptr || !read(*value, out)) {
      complain(key, "is to be " + wanted);
    }
  }
  template <class T>
  void optional(const char* key, T& out, bool (*read)(const json&, T&), const std::string& wanted) {
    if (object_.contains(key)) {
      required(key, out, read, wanted);
    } else {
      known_.emplace_back(key);
    }
  }
  template <class T>
  void number(const char* key, T& out) {
    required(key, out, read_number<T>,
             "a number of up to " + std::to_string(sizeof(T) * 8) + " bits");
  }

  std::string finish(const std::vector<std::string>& passed_over) {
    for (const auto& item : object_.items()) {
      const auto is_it = [&](const std::string& name) { return name == item.key(); };
      if (std::none_of(known_.begin(), known_.end(), is_it) &&
          std::none_of(passed_over.begin(), passed_over.end(), is_it)) {
        complain(item.key().substr(0, name_bytes_max).c_str(), "is not known");
      }
    }
    return problem_;
  }

 private:
  const json* find(const char* key) {
    known_.emplace_back(key);
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }
  void complain(const char* key, const std::string& what) {
    if (problem_.empty()) {
      problem_ = "`" + std::string(key) + "` " + what;
    }
  }

  const json& object_;
  std::vector<std::string> known_;
  std::string problem_;
};

tl::expected<TreePart, std::string> read_tree(const json& value,
                                              const std::vector<std::string>& passed_over) {
  if (!value.is_object()) {
    return tl::unexpected(std::string("it is no object"));
  }
  TreePart part;
  part.engine = first_tree_engine();
  Members members(value);
  members.number("job", part.job);
  members.number("tree", part.tree);
  members.optional("group", part.group, read_group, "a multicast address");
  members.required("children", part.children, read_ports,
                   "a list of up to " + std::to_string(tree_children_max) + " names of ports");
  members.optional("parent", part.parent, read_optional_name, "the name of a port, or null");
  members.number("workers", part.workers);
  members.number("workers_below", part.workers_below);
  members.number("quorum", part.quorum);
  members.optional("child_addresses", part.child_addresses, read_addresses,
                   "a list of IP addresses");
  members.optional("parent_address", part.parent_address, read_address, "an IP address");
  members.optional("members", part.members, read_addresses, "a list of IP addresses");
  members.optional("racks", part.racks, read_address_lists, "a list of lists of IP addresses");
  members.optional("settings", part.settings, read_settings,
                   "an object of numbers of up to 32 bits");
  members.optional("engine", part.engine, read_name, "the name of an engine");
  if (auto problem = members.finish(passed_over); !problem.empty()) {
    return tl::unexpected(std::move(problem));
  }
  return part;
}

// An unspecified address is null.
template <class Address>
json address_json(const Address& address) {
  return address.is_unspecified() ? json(nullptr) : json(to_string(address));
}

json address_list(const std::vector<wire::IpAddress>& addresses) {
  json list = json::array();
  for (const auto& address : addresses) {
    list.push_back(address.is_unspecified() ? std::string(unspecified_text) : to_string(address));
  }
  return list;
}

}  // namespace

json to_json(const TreePart& part) {
  json object = {
      {"job", part.job},           {"tree", part.tree},
      {"children", part.children}, {"parent", part.parent ? json(*part.parent) : json(nullptr)},
      {"workers", part.workers},   {"workers_below", part.workers_below},
      {"quorum", part.quorum}};
  const auto put = [&](const char* key, json value) {
    if (!value.empty()) {
      object[key] = std::move(value);
    }
  };
  if (part.engine != first_tree_engine()) {  // programs of before do not know the member
    object["engine"] = part.engine;
  }
  put("group", address_json(part.group));
  put("child_addresses", address_list(part.child_addresses));
  put("parent_address", address_json(part.parent_address));
  put("members", address_list(part.members));
  json racks = json::array();
  for (const auto& rack : part.racks) {
    racks.push_back(address_list(rack));
  }
  put("racks", std::move(racks));
  put("settings", part.settings);
  return object;
}

json to_json(const engine::TreeStatus& status) {
  json object = {{"active", status.active}};
  for (const auto& figure : status.figures) {
    object[std::string(figure.name)] = figure.value;
  }
  return object;
}

tl::expected<std::vector<TreePart>, std::string> read_trees(
    const json& list, const std::vector<std::string>& passed_over) {
  if (!list.is_array()) {
    return tl::unexpected(std::string("the trees are no list"));
  }
  std::vector<TreePart> parts;
  for (const json& value : list) {
    auto part = read_tree(value, passed_over);
    if (!part) {
      return tl::unexpected("tree " + std::to_string(parts.size() + 1) +
                            " of the list: " + part.error());
    }
    parts.push_back(std::move(*part));
  }
  return parts;
}

}  // namespace tributary::control
