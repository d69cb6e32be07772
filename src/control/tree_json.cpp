// SPDX-License-Identifier: BSD-3-Clause
#include "control/tree_json.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "control/protocol_section.h"
#include "control/text.h"

namespace tributary::control {
namespace {

using nlohmann::json;

constexpr std::size_t name_bytes_max = 64;
constexpr std::size_t addresses_max = 65536;
constexpr std::size_t settings_max = 16;

// Reads the members of one tree; the first problem is kept.
class Members {
 public:
  explicit Members(const json& object) : object_(object) {}

  template <class T>
  void number(const char* key, T& out) {
    const json* const value = find(key);
    const bool fits = value != nullptr && value->is_number_unsigned() &&
                      value->get<std::uint64_t>() <= std::numeric_limits<T>::max();
    if (!fits) {
      complain(key, "is to be a number of up to " + std::to_string(sizeof(T) * 8) + " bits");
      return;
    }
    out = value->get<T>();
  }

  void group(const char* key, wire::Ipv4Address& out) {
    const json* const value = find(key);
    if (value == nullptr) {
      return;
    }
    const auto parsed = is_name(*value) ? parse_group(value->get<std::string>()) : parse_group("");
    if (!parsed) {
      complain(key, "is to be a multicast address");
      return;
    }
    out = *parsed;
  }

  // May be left out.
  void address(const char* key, wire::Ipv4Address& out) {
    const json* const value = find(key);
    if (value != nullptr && !read_address(*value, out)) {
      complain(key, "is to be an IPv4 address");
    }
  }
  void addresses(const char* key, std::vector<wire::Ipv4Address>& out) {
    const json* const list = find(key);
    if (list != nullptr && !read_addresses(*list, out)) {
      complain(key, "is to be a list of IPv4 addresses");
    }
  }
  void address_lists(const char* key, std::vector<std::vector<wire::Ipv4Address>>& out) {
    const json* const lists = find(key);
    if (lists == nullptr) {
      return;
    }
    bool fits = lists->is_array() && lists->size() <= tree_children_max;
    for (std::size_t i = 0; fits && i < lists->size(); ++i) {
      fits = read_addresses((*lists)[i], out.emplace_back());
    }
    if (!fits) {
      complain(key, "is to be a list of lists of IPv4 addresses");
    }
  }
  void settings(const char* key, TreeSettings& out) {
    const json* const object = find(key);
    if (object == nullptr) {
      return;
    }
    bool fits = object->is_object() && object->size() <= settings_max;
    for (const auto& [name, value] : object->items()) {
      fits = fits && value.is_number_unsigned() &&
             value.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
      out[name] = fits ? value.get<std::uint32_t>() : 0;
    }
    if (!fits) {
      complain(key, "is to be an object of numbers of up to 32 bits");
    }
  }

  void ports(const char* key, std::vector<std::string>& out) {
    const json* const list = find(key);
    const bool names = list != nullptr && list->is_array() && list->size() <= tree_children_max &&
                       std::all_of(list->begin(), list->end(), is_name);
    if (!names) {
      complain(key,
               "is to be a list of up to " + std::to_string(tree_children_max) + " names of ports");
      return;
    }
    out = list->get<std::vector<std::string>>();
  }

  void optional_port(const char* key, std::optional<std::string>& out) {
    const json* const value = find(key);
    if (value == nullptr || value->is_null()) {
      return;
    }
    out = text(key);
    if (!out) {
      complain(key, "is to be the name of a port, or null");
    }
  }

  std::string name_or(const char* key, std::string_view absent) {
    if (find(key) == nullptr) {
      return std::string(absent);
    }
    auto name = text(key);
    if (!name) {
      complain(key, "is to be the name of an engine");
    }
    return std::move(name).value_or("");
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
  static bool is_name(const json& value) {
    return value.is_string() && !value.get_ref<const std::string&>().empty() &&
           value.get_ref<const std::string&>().size() <= name_bytes_max;
  }

  // Unspecified is one, too: of anybody.
  static bool read_address(const json& value, wire::Ipv4Address& out) {
    if (!is_name(value)) {
      return false;
    }
    const auto text = value.get<std::string>();
    if (text == to_string(wire::Ipv4Address{})) {
      return true;
    }
    const auto parsed = parse_ipv4(text);
    out = parsed.value_or(wire::Ipv4Address{});
    return parsed.has_value();
  }

  static bool read_addresses(const json& list, std::vector<wire::Ipv4Address>& out) {
    return list.is_array() && list.size() <= addresses_max &&
           std::all_of(list.begin(), list.end(),
                       [&](const json& value) { return read_address(value, out.emplace_back()); });
  }

  const json* find(const char* key) {
    known_.emplace_back(key);
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }
  std::optional<std::string> text(const char* key) {
    const json* const value = find(key);
    if (value == nullptr || !is_name(*value)) {
      return std::nullopt;
    }
    return value->get<std::string>();
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
  Members members(value);
  members.number("job", part.job);
  members.number("tree", part.tree);
  members.group("group", part.group);
  members.ports("children", part.children);
  members.optional_port("parent", part.parent);
  members.number("workers", part.workers);
  members.number("workers_below", part.workers_below);
  members.number("quorum", part.quorum);
  members.addresses("child_addresses", part.child_addresses);
  members.address("parent_address", part.parent_address);
  members.addresses("members", part.members);
  members.address_lists("racks", part.racks);
  members.settings("settings", part.settings);
  part.engine = members.name_or("engine", first_tree_engine());
  if (auto problem = members.finish(passed_over); !problem.empty()) {
    return tl::unexpected(std::move(problem));
  }
  return part;
}

// Null where it is unspecified.
json address_json(wire::Ipv4Address address) {
  return address.is_unspecified() ? json(nullptr) : json(to_string(address));
}

json address_list(const std::vector<wire::Ipv4Address>& addresses) {
  json list = json::array();
  for (const auto address : addresses) {
    list.push_back(to_string(address));
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
  if (part.engine != first_tree_engine()) {  // which programs of before do not know
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
