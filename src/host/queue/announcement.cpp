// SPDX-License-Identifier: BSD-3-Clause
#include "host/queue/announcement.h"

#include <cstring>

#include "host/call.h"
#include "wire/element.h"
#include "wire/endian.h"

namespace tributary::host {
namespace {

// A record stands before each name.
struct [[gnu::packed]] Record {
  std::uint8_t name_bytes = 0;  // 0: there are no more
  Collective collective = Collective::barrier;
  wire::ElementType type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;
  wire::be32 root;
  wire::be64 count;
};
static_assert(sizeof(Record) == 16);

bool is_sound(const Record& record, std::uint32_t world_size) {
  return record.collective <= Collective::barrier && wire::is_valid(record.type, record.op) &&
         record.root.value() < world_size;
}

Record record_of(const Announced& announced) {
  const auto& shape = announced.shape;
  Record record;
  record.name_bytes = static_cast<std::uint8_t>(announced.name.size());
  record.collective = shape.collective;
  record.type = shape.type;
  record.op = shape.op;
  record.root = shape.root;
  record.count = shape.count;
  return record;
}

}  // namespace

Announcement announcement_of(std::span<const Announced> names) {
  Announcement bytes{};
  std::span<std::byte> rest(bytes);
  for (const auto& announced : names) {
    const auto& name = announced.name;
    if (rest.size() < sizeof(Record) + name.size()) {
      break;
    }
    const auto record = record_of(announced);
    std::memcpy(rest.data(), &record, sizeof record);
    std::memcpy(rest.data() + sizeof record, name.data(), name.size());
    rest = rest.subspan(sizeof record + name.size());
  }
  return bytes;
}

Result<std::vector<Announced>> parse_announcement(wire::Bytes bytes, std::uint32_t world_size) {
  std::vector<Announced> names;
  wire::Cursor cursor(bytes);
  for (;;) {
    const auto* const record = cursor.take<Record>();
    if (record == nullptr || record->name_bytes == 0) {
      return names;
    }
    const auto* const text = reinterpret_cast<const char*>(cursor.rest().data());
    if (!cursor.skip(record->name_bytes) || !is_sound(*record, world_size)) {
      return fail(Error::Code::mismatch,
                  "a rank announced what is no named collective; install the same Tributary "
                  "everywhere");
    }
    names.push_back({std::string(text, record->name_bytes),
                     {record->collective, record->type, record->op, record->root.value(),
                      record->count.value()}});
  }
}

}  // namespace tributary::host
