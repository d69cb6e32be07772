// SPDX-License-Identifier: BSD-3-Clause
// A rank that plays NCCL: it finds the plugin's tables as NCCL does, brings the handles from rank
// to rank by files, calls in NCCL's order, and checks all results.
//
//   nccl_rank PLUGIN VERSION CASE DIRECTORY
//
// RANK and WORLD_SIZE say which rank it is. VERSION is that of the collectives' table.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "bindings/nccl/abi.h"
#include "bindings/nccl/listener.h"
#include "bindings/nccl/socket.h"

namespace {

using namespace tributary::nccl;
using Bytes = std::vector<std::byte>;

int rank;
int ranks;
std::filesystem::path directory;

void expect(bool right, const std::string& what) {
  if (!right) {
    std::fprintf(stderr, "rank %d: %s\n", rank, what.c_str());
    std::_Exit(1);
  }
}

void expect(Result result, const std::string& what) {
  expect(result == Result::success, what + ": result " + std::to_string(static_cast<int>(result)));
}

void log(LogLevel level, unsigned long, const char*, int, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "rank %d %s ", rank, level == LogLevel::warn ? "warns" : "informs");
  std::vfprintf(stderr, format, arguments);
  std::fprintf(stderr, "\n");
  va_end(arguments);
}

// ---- How ranks exchange handles: NCCL has connections for it ----

using HandleBytes = std::array<char, handle_bytes_max>;

void show(const std::string& what, const HandleBytes& handle) {
  const auto path = directory / (what + "." + std::to_string(rank));
  std::ofstream(path.string() + ".new").write(handle.data(), handle.size());
  std::filesystem::rename(path.string() + ".new", path);
}

HandleBytes see(const std::string& what, int of) {
  const auto path = directory / (what + "." + std::to_string(of));
  while (!std::filesystem::exists(path)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  HandleBytes handle;
  std::ifstream(path).read(handle.data(), handle.size());
  return handle;
}

std::vector<HandleBytes> exchange(const std::string& what, const HandleBytes& mine) {
  show(what, mine);
  std::vector<HandleBytes> all;
  for (int of = 0; of < ranks; ++of) {
    all.push_back(see(what, of));
  }
  return all;
}

// ---- The differences between the versions ----

Result begin(const CollectiveNetworkV8& table, void**) {
  return table.init(log);
}
Result begin(const CollectiveNetworkV9& table, void**) {
  return table.init(log);
}
Result begin(const CollectiveNetworkV11& table, void** context) {
  return table.init(context, 1234, log);
}

template <typename Table>
Result listen(const Table& table, void*, void* handle, void** listener) {
  return table.listen(0, handle, listener);
}
Result listen(const CollectiveNetworkV11& table, void* context, void* handle, void** listener) {
  return table.listen(context, 0, handle, listener);
}

const PropertiesV8& common(const PropertiesV8& properties) {
  return properties;
}
const PropertiesV9& common(const PropertiesV9& properties) {
  expect(properties.parts.count == 1 && properties.collective_bytes_max > 0, "parts of the device");
  return properties;
}
const PropertiesV9& common(const PropertiesV11& properties) {
  expect(properties.requests_in_one_max == 1, "requests in one");
  return common(properties.before);
}

template <typename Table>
struct Shapes;
template <>
struct Shapes<CollectiveNetworkV8> {
  using Properties = PropertiesV8;
  using Count = int;
  using Part = PartV8;
};
template <>
struct Shapes<CollectiveNetworkV9> {
  using Properties = PropertiesV9;
  using Count = std::size_t;
  using Part = PartV9;
};
template <>
struct Shapes<CollectiveNetworkV11> {
  using Properties = PropertiesV11;
  using Count = std::size_t;
  using Part = PartV9;
};

// ---- Elements, of small numbers that all types have ----

struct Format {
  Type type;
  std::size_t bytes;
  unsigned exponent_bits;  // 0: an integer
  unsigned mantissa_bits;
  bool is_unsigned = false;
};
constexpr Format formats[] = {
    {Type::i8, 1, 0, 0},        {Type::u8, 1, 0, 0, true}, {Type::i32, 4, 0, 0},
    {Type::u32, 4, 0, 0, true}, {Type::i64, 8, 0, 0},      {Type::u64, 8, 0, 0, true},
    {Type::f16, 2, 5, 10},      {Type::f32, 4, 8, 23},     {Type::f64, 8, 11, 52},
    {Type::bf16, 2, 8, 7},      {Type::f8e4m3, 1, 4, 3},   {Type::f8e5m2, 1, 5, 2},
};

// Precondition: 0 < value, and it has no more bits than the mantissa, and one.
void put(std::byte* to, const Format& format, std::uint64_t value) {
  auto bits = value;
  if (format.exponent_bits != 0) {
    unsigned exponent = 0;
    while (value >> (exponent + 1) != 0) {
      ++exponent;
    }
    const auto bias = (std::uint64_t{1} << (format.exponent_bits - 1)) - 1;
    const auto fraction = value - (std::uint64_t{1} << exponent);
    bits = (bias + exponent) << format.mantissa_bits | fraction << format.mantissa_bits >> exponent;
  }
  std::memcpy(to, &bits, format.bytes);
}

std::uint64_t given(int of, std::size_t place) {
  return 1 + (place + static_cast<std::size_t>(of)) % 2;
}

std::uint64_t reduced(Operator op, std::size_t place) {
  std::uint64_t all = given(0, place);
  for (int of = 1; of < ranks; ++of) {
    const auto one = given(of, place);
    all = op == Operator::sum    ? all + one
          : op == Operator::prod ? all * one
          : op == Operator::max  ? std::max(all, one)
                                 : std::min(all, one);
  }
  return all;
}

template <typename Value>
Bytes vector_of(const Format& format, std::size_t first, std::size_t count, Value value) {
  Bytes bytes(count * format.bytes);
  for (std::size_t i = 0; i < count; ++i) {
    put(bytes.data() + i * format.bytes, format, value(first + i));
  }
  return bytes;
}
Bytes mine(const Format& format, std::size_t first, std::size_t count) {
  return vector_of(format, first, count, [](std::size_t place) { return given(rank, place); });
}
Bytes of_all(const Format& format, Operator op, std::size_t first, std::size_t count) {
  return vector_of(format, first, count, [op](std::size_t place) { return reduced(op, place); });
}

// ---- What NCCL calls ----

void* find(void* plugin, const std::string& symbol) {
  void* const table = dlsym(plugin, symbol.c_str());
  expect(table != nullptr, "the plugin has no " + symbol);
  return table;
}

const NetworkV8& point_to_point(void* plugin) {
  return *static_cast<const NetworkV8*>(find(plugin, "ncclNetPlugin_v8"));
}

template <typename Table>
class Player {
 public:
  using Count = typename Shapes<Table>::Count;
  using Part = typename Shapes<Table>::Part;

  explicit Player(const Table& table) : table_(table), calls_(table.collectives) {
    expect(begin(table_, &context_), "init");
    int devices = 0;
    expect(table_.devices(&devices), "devices");
    expect(devices == 1, "one device");
    typename Shapes<Table>::Properties properties;
    expect(table_.properties(0, &properties), "properties");
    const auto& described = common(properties);
    expect(described.memory == memory_of_host && described.name != nullptr &&
               described.speed_mbps > 0 && described.receives_max == 1,
           "properties");
    expect(table_.properties(1, &properties) != Result::success, "there is no second device");
  }

  HandleBytes listen() {
    HandleBytes handle{};
    expect(::listen(table_, context_, handle.data(), &listener_), "listen");
    return handle;
  }

  Result connect(std::vector<HandleBytes> handles) {
    std::vector<void*> pointers;
    for (auto& handle : handles) {
      pointers.push_back(handle.data());
    }
    const auto result = calls_.connect(pointers.data(), ranks, rank, listener_, &comm_);
    expect((result == Result::success) == (comm_ != nullptr), "a communicator, or an error");
    if (result == Result::success) {
      expect(calls_.close_listener(listener_), "closeListen");
    }
    return result;
  }

  void connect() { expect(connect(exchange("collective", listen())), "connect"); }
  void close() { expect(calls_.close_comm(comm_), "closeColl"); }

  void* register_memory(Bytes& memory) {
    void* handle = nullptr;
    expect(calls_.register_memory(comm_, memory.data(), memory.size(), memory_of_host, &handle),
           "regMr");
    expect(handle != nullptr, "a handle of memory");
    return handle;
  }
  void deregister(void* handle) { expect(calls_.deregister_memory(comm_, handle), "deregMr"); }

  bool supports(Type type, Operator op) {
    int supported = -1;
    expect(calls_.reduce_support(type, op, &supported), "reduceSupport");
    return supported == 1;
  }

  Result allreduce(Bytes& in, Bytes& out, std::size_t count, Type type, Operator op,
                   void** request) {
    return calls_.iallreduce(comm_, in.data(), out.data(), static_cast<Count>(count), type, op,
                             in.data(), out.data(), request);
  }

  void* allgather(std::byte* in, std::byte* out, std::size_t each, std::size_t offset,
                  std::size_t bytes) {
    void* request = nullptr;
    Part part{out, out, static_cast<decltype(Part::bytes)>(bytes)};
    expect(calls_.iallgather(comm_, in, 1, &part, each, offset, bytes, in, &request), "iallgather");
    return request;
  }

  void* reduce_scatter(std::byte* in, std::byte* out, std::size_t each, std::size_t offset,
                       std::size_t bytes) {
    void* request = nullptr;
    Part part{in, in, static_cast<decltype(Part::bytes)>(bytes)};
    expect(calls_.ireduce_scatter(comm_, 1, &part, out, each, offset, bytes, Type::f32,
                                  Operator::sum, out, &request),
           "ireducescatter");
    return request;
  }

  Result wait(void* request, int* bytes = nullptr) {
    auto result = Result::success;
    for (int done = 0; result == Result::success && done == 0;) {
      result = calls_.test(request, &done, bytes);
    }
    return result;
  }

  void refuse() {
    void* handle = nullptr;
    constexpr int memory_of_gpu = 2;
    Bytes memory(64);
    expect(calls_.register_memory(comm_, memory.data(), 64, memory_of_gpu, &handle) !=
                   Result::success &&
               handle == nullptr,
           "memory of a GPU");
    void* request = &memory;
    expect(allreduce(memory, memory, 8, Type::u64, Operator::max, &request) != Result::success &&
               request == nullptr,
           "a maximum of unsigned integers");
    expect(allreduce(memory, memory, 0, Type::f32, Operator::sum, &request) == Result::success &&
               request == nullptr,
           "nothing to do for no elements");
    request = &memory;
    expect(calls_.iflush(comm_, memory.data(), 64, memory.data(), &request) == Result::success &&
               request == nullptr,
           "host memory needs no flush");
    request = &memory;
    Part part{nullptr, memory.data(), 64};
    expect(calls_.iallgather(comm_, memory.data(), 1, &part, 8, 16, 64, nullptr, &request) !=
                   Result::success &&
               request == nullptr,
           "a window beyond the vector");
  }

 private:
  const Table& table_;
  const Collectives<Count, Part>& calls_;
  void* context_ = nullptr;
  void* listener_ = nullptr;
  void* comm_ = nullptr;
};

template <typename Table>
void check_types_and_operators(Player<Table>& player) {
  constexpr std::size_t count = 3000;
  for (const auto& format : formats) {
    for (const auto op : {Operator::sum, Operator::prod, Operator::max, Operator::min}) {
      const bool compares = op == Operator::max || op == Operator::min;
      const std::string name = "type " + std::to_string(static_cast<int>(format.type)) +
                               ", operator " + std::to_string(static_cast<int>(op));
      expect(player.supports(format.type, op) == !(format.is_unsigned && compares), name);
      if (format.is_unsigned && compares) {
        continue;
      }
      auto in = mine(format, 0, count);
      Bytes out(in.size());
      auto* const in_memory = player.register_memory(in);
      auto* const out_memory = player.register_memory(out);
      void* request = nullptr;
      int bytes = 0;
      expect(player.allreduce(in, out, count, format.type, op, &request), name);
      expect(player.wait(request, &bytes), name);
      expect(bytes == static_cast<int>(in.size()), name + ": bytes");
      expect(in == mine(format, 0, count), name + ": what was given changed");
      expect(out == of_all(format, op, 0, count), name + ": a wrong result");
      player.deregister(in_memory);
      player.deregister(out_memory);
    }
  }
  expect(!player.supports(static_cast<Type>(99), Operator::sum), "a type that there is not");
}

// As NCCL does: posted as there is room, looked at in turn, in place.
template <typename Table>
void check_many_in_flight(Player<Table>& player) {
  constexpr std::size_t many = 24;
  const auto& f32 = formats[7];
  std::vector<Bytes> buffers;
  std::vector<void*> requests(many);
  for (std::size_t i = 0; i < many; ++i) {
    buffers.push_back(mine(f32, i, 1 + 997 * i));
  }
  for (std::size_t i = 0; i < many; ++i) {
    expect(player.allreduce(buffers[i], buffers[i], 1 + 997 * i, Type::f32, Operator::sum,
                            &requests[i]),
           "iallreduce");
  }
  for (std::size_t i = many; i-- > 0;) {
    expect(player.wait(requests[i]), "test");
    expect(buffers[i] == of_all(f32, Operator::sum, i, 1 + 997 * i), "a wrong sum among many");
  }
}

// A vector of all ranks, in three windows that are not the ranks' parts.
template <typename Table>
void check_windows(Player<Table>& player) {
  const auto& f32 = formats[7];
  constexpr std::size_t each = 4 * 1000;
  const auto total = each * static_cast<std::size_t>(ranks);
  const auto from = each * static_cast<std::size_t>(rank);
  auto part = mine(f32, 0, each / 4);
  auto whole = mine(f32, 0, total / 4);
  Bytes gathered(total);
  Bytes reduced_part(each);
  std::vector<void*> requests;
  for (std::size_t offset = 0, bytes = 0; offset < total; offset += bytes) {
    bytes = std::min<std::size_t>(total - offset, 5008);
    const auto begins = std::max(offset, from) - from;  // of this rank's part, within it
    const auto place = begins < each ? begins : 0;
    requests.push_back(
        player.allgather(part.data() + place, gathered.data() + offset, each, offset, bytes));
    requests.push_back(player.reduce_scatter(whole.data() + offset, reduced_part.data() + place,
                                             each, offset, bytes));
  }
  for (auto* const request : requests) {
    expect(player.wait(request), "test of a window");
  }
  for (int of = 0; of < ranks; ++of) {
    const auto theirs = vector_of(f32, 0, each / 4, [of](std::size_t i) { return given(of, i); });
    expect(std::equal(theirs.begin(), theirs.end(),
                      gathered.begin() + static_cast<std::ptrdiff_t>(each) * of),
           "a wrong part of an allgather");
  }
  expect(reduced_part == of_all(f32, Operator::sum, from / 4, each / 4),
         "a wrong part of a reduction");
}

// Messages round the ranks, in both directions of the processor's time: nothing waits in a call.
void check_messages(const NetworkV8& table) {
  expect(table.init(log), "init");
  HandleBytes own{};
  void* listener = nullptr;
  expect(table.listen(0, own.data(), &listener), "listen");
  auto next = exchange("message", own)[static_cast<std::size_t>((rank + 1) % ranks)];
  void* to_next = nullptr;
  void* from_last = nullptr;
  while (to_next == nullptr || from_last == nullptr) {
    if (to_next == nullptr) {
      expect(table.connect(0, next.data(), &to_next, nullptr), "connect");
    }
    if (from_last == nullptr) {
      expect(table.accept(listener, &from_last, nullptr), "accept");
    }
  }
  constexpr std::size_t many = 8;
  constexpr std::size_t room = 700000;
  const auto size_of = [](std::size_t i) { return i * 99991; };
  const auto& f32 = formats[7];
  const auto last = (rank + ranks - 1) % ranks;
  auto sent = mine(f32, 0, room / 4);
  std::vector<Bytes> received(many, Bytes(room));
  std::vector<void*> requests;
  for (std::size_t i = 0; i < many; ++i) {
    void* data[] = {received[i].data()};
    int bytes[] = {static_cast<int>(room)};
    int tags[] = {0};
    void* memories[] = {data[0]};
    void* request = nullptr;
    expect(table.ireceive(from_last, 1, data, bytes, tags, memories, &request), "irecv");
    requests.push_back(request);
    expect(
        table.isend(to_next, sent.data(), static_cast<int>(size_of(i)), 0, sent.data(), &request),
        "isend");
    requests.push_back(request);
  }
  for (std::size_t left = requests.size(); left != 0;) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      int done = 0;
      int bytes = 0;
      if (requests[i] != nullptr) {
        expect(table.test(requests[i], &done, &bytes), "test");
      }
      if (done != 0) {
        expect(bytes == static_cast<int>(size_of(i / 2)), "bytes of a message");
        requests[i] = nullptr;
        --left;
      }
    }
  }
  const auto theirs = vector_of(f32, 0, room / 4, [last](std::size_t i) { return given(last, i); });
  for (std::size_t i = 0; i < many; ++i) {
    expect(std::equal(theirs.begin(), theirs.begin() + static_cast<std::ptrdiff_t>(size_of(i)),
                      received[i].begin()),
           "a wrong message");
  }
  expect(table.close_send(to_next), "closeSend");
  expect(table.close_receive(from_last), "closeRecv");
  expect(table.close_listener(listener), "closeListen");
}

// ---- Cases ----

template <typename Table>
void collectives(Player<Table>& player) {
  player.connect();
  check_types_and_operators(player);
  check_many_in_flight(player);
  check_windows(player);
  player.refuse();
  check_many_in_flight(player);
  player.close();
}

// One sum that a switch sees.
template <typename Table>
void sums(Player<Table>& player) {
  player.connect();
  check_many_in_flight(player);
  check_windows(player);
  player.close();
}

// Who has not the handle is not let in, and is in nobody's way.
template <typename Table>
void strangers(Player<Table>& player) {
  auto handles = exchange("collective", player.listen());
  std::vector<Socket> sockets;
  if (rank == 1) {
    Handle first;
    std::memcpy(&first, handles[0].data(), sizeof first);
    for (int i = 0; i < 3; ++i) {
      sockets.push_back(start_to_connect(first.place()));
      while (look_at(sockets.back()) == Connecting::yet) {
      }
      // As rank 2 begins, without the token; one of them says half of it, and one nothing.
      constexpr std::size_t told = 256;
      const std::uint32_t introduced[] = {2, told};
      Bytes said(sizeof(Token) + sizeof introduced + told);
      std::memcpy(said.data() + sizeof(Token), introduced, sizeof introduced);
      send_some(sockets.back(), said.data(), said.size() / 2 * static_cast<std::size_t>(i));
    }
  }
  expect(player.connect(std::move(handles)), "connect");
  check_many_in_flight(player);
  player.close();
}

// NCCL does it by itself then: all ranks have an error, and nobody waits for ever.
template <typename Table>
void missing(Player<Table>& player) {
  auto handles = exchange("collective", player.listen());
  if (rank != ranks - 1) {
    expect(player.connect(std::move(handles)) != Result::success, "a rank that is missing");
  }
}

template <typename Table>
void dies(Player<Table>& player) {
  player.connect();
  check_many_in_flight(player);
  if (rank == ranks - 1) {
    std::_Exit(0);
  }
  const auto& f32 = formats[7];
  auto failing = mine(f32, 0, 100000);
  auto behind = mine(f32, 0, 100000);
  void* request = nullptr;
  void* request_behind = nullptr;
  expect(player.allreduce(failing, failing, 100000, Type::f32, Operator::sum, &request), "post");
  expect(player.allreduce(behind, behind, 100000, Type::f32, Operator::sum, &request_behind),
         "post");
  expect(player.wait(request) != Result::success, "a sum without a rank");
  expect(player.wait(request) != Result::success, "the same, asked for again");
  expect(player.wait(request_behind) != Result::success, "a sum behind that");
  player.close();
}

// As NCCL does when it aborts: memory goes while a collective has it.
template <typename Table>
void aborts(Player<Table>& player) {
  player.connect();
  const bool is_late = rank == ranks - 1;
  if (is_late) {
    see("aborted", 0);
    see("aborted", 1);
  }
  const auto& f32 = formats[7];
  auto vector = mine(f32, 0, 1000000);
  auto* const memory = player.register_memory(vector);
  void* request = nullptr;
  expect(player.allreduce(vector, vector, 1000000, Type::f32, Operator::sum, &request), "post");
  if (!is_late) {
    player.deregister(memory);
    const Bytes others(vector.size(), std::byte{0x55});
    vector = others;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    expect(vector == others, "memory that was given back");
    show("aborted", {});
  }
  expect(player.wait(request) != Result::success, "a sum that was given up");
  player.close();
}

template <typename Table>
void run(const std::string& name, void* table) {
  Player<Table> player(*static_cast<const Table*>(table));
  if (name == "collectives") {
    collectives(player);
  } else if (name == "sums") {
    sums(player);
  } else if (name == "strangers") {
    strangers(player);
  } else if (name == "aborts") {
    aborts(player);
  } else if (name == "missing") {
    missing(player);
  } else {
    expect(name == "dies", "there is no case " + name);
    dies(player);
  }
}

int number_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? 0 : std::atoi(value);
}

}  // namespace

int main(int argc, char** argv) {
  rank = number_of("RANK");
  ranks = number_of("WORLD_SIZE");
  expect(argc == 5, "nccl_rank PLUGIN VERSION CASE DIRECTORY");
  const std::string version = argv[2];
  const std::string name = argv[3];
  directory = argv[4];
  void* const plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  expect(plugin != nullptr, "dlopen");
  const auto& messages = point_to_point(plugin);  // without it NCCL looks for nothing else
  if (name == "messages") {
    check_messages(messages);
    return 0;
  }
  void* const table = find(plugin, "ncclCollNetPlugin_v" + version);
  if (version == "8") {
    run<CollectiveNetworkV8>(name, table);
  } else if (version == "11") {
    run<CollectiveNetworkV11>(name, table);
  } else {
    run<CollectiveNetworkV9>(name, table);
  }
  return 0;
}
