// SPDX-License-Identifier: BSD-3-Clause
#include "control/server.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <future>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "control/client.h"
#include "control/listener.h"
#include "fake_backend.h"
#include "support/temporary_directory.h"

namespace tributary::control {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

using tributary::test::TemporaryDirectory;

// The limit of a test that hangs, long enough for a busy processor.
constexpr std::chrono::seconds most_patience = 30s;

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    spdlog::set_level(spdlog::level::off);
    options_.socket = directory_ / "run/control.sock";
    options_.message_timeout = 200ms;
  }
  ~ServerTest() override {
    stop_ = true;
    if (thread_.joinable()) {
      thread_.join();
    }
  }

  void start() {
    auto server = Server::create(options_, backend_);
    ASSERT_TRUE(server) << server.error();
    thread_ = std::thread([this, server = std::move(*server)]() mutable {
      while (!stop_) {
        server->run_once(10ms);
      }
      server.reset();
    });
  }
  Client client() {
    auto connected = Client::connect(options_.socket, most_patience);
    EXPECT_TRUE(connected) << connected.error().message;
    return std::move(*connected);
  }
  // Opens a bare connection, for invalid use of the protocol.
  int raw() const {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, options_.socket.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const timeval patience{most_patience.count(), 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return fd;
  }
  static void put(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return;  // the server has hung up, which some tests want
      }
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  // Returns the next reply, or null if the server hung up.
  static json get(int fd, FrameDecoder& decoder) {
    for (;;) {
      if (const auto message = decoder.next()) {
        return json::parse(*message);
      }
      char chunk[4096];
      const ssize_t size = recv(fd, chunk, sizeof(chunk), 0);
      if (size < 0 && errno == EINTR) {
        continue;
      }
      if (size <= 0) {
        return nullptr;
      }
      decoder.append({chunk, static_cast<std::size_t>(size)});
    }
  }
  void expect_alive() {
    const auto status = client().call("daemon.status", json::object());
    ASSERT_TRUE(status) << status.error().message;
  }

  TemporaryDirectory directory_;
  ServerOptions options_;
  FakeBackend backend_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

std::string status_request(int id) {
  return framed(R"({"version":1,"id":)" + std::to_string(id) + R"(,"method":"daemon.status"})");
}

TEST_F(ServerTest, SomethingToReadElsewhereEndsTheWait) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  options_.wake_fd = ends[0];
  auto server = Server::create(options_, backend_);
  ASSERT_TRUE(server) << server.error();
  for (int i = 0; i < 3; ++i) {
    char byte = 1;
    ASSERT_EQ(write(ends[1], &byte, 1), 1);
    const auto start = std::chrono::steady_clock::now();
    (*server)->run_once(30s);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
    ASSERT_EQ(read(ends[0], &byte, 1), 1);
    (*server)->run_once(0ms);  // nothing left: it was watched again meanwhile
  }
  server->reset();
  close(ends[0]);
  close(ends[1]);
}

TEST_F(ServerTest, answers_a_call) {
  start();
  const auto status = client().call("daemon.status", json::object());
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ((*status)["version"], "0.1.0");
}

TEST_F(ServerTest, socket_has_mode_0660_and_is_removed_at_the_end) {
  start();
  struct stat info {};
  ASSERT_EQ(stat(options_.socket.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0660u);
  stop_ = true;
  thread_.join();
  EXPECT_NE(stat(options_.socket.c_str(), &info), 0);
}

TEST_F(ServerTest, create_refuses_the_socket_of_a_live_daemon) {
  start();
  const auto second = Server::create(options_, backend_);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().find("another daemon serves"), std::string::npos) << second.error();
  expect_alive();
}

TEST_F(ServerTest, create_replaces_the_socket_of_a_dead_daemon) {
  std::filesystem::create_directory(directory_ / "run");
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, options_.socket.c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  close(fd);
  start();
  expect_alive();
}

TEST_F(ServerTest, create_refuses_a_path_that_is_no_socket) {
  std::filesystem::create_directories(options_.socket);
  const auto server = Server::create(options_, backend_);
  ASSERT_FALSE(server);
  EXPECT_NE(server.error().find("is no socket"), std::string::npos) << server.error();
}

TEST_F(ServerTest, create_names_a_missing_group) {
  options_.group = "no-such-group-here";
  const auto server = Server::create(options_, backend_);
  ASSERT_FALSE(server);
  EXPECT_NE(server.error().find("groupadd"), std::string::npos) << server.error();
}

TEST_F(ServerTest, sixteen_clients_are_served_and_one_more_is_told_busy) {
  start();
  std::vector<Client> clients;
  for (std::size_t i = 0; i < Server::clients_max; ++i) {
    clients.push_back(client());
    ASSERT_TRUE(clients.back().call("port.list", json::object()));
  }
  auto extra = client();
  const auto refused = extra.call("port.list", json::object());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().failure.code, ErrorCode::busy) << refused.error().message;
  for (Client& each : clients) {
    EXPECT_TRUE(each.call("port.list", json::object()));
  }
  clients.pop_back();
  std::this_thread::sleep_for(50ms);
  expect_alive();
}

// The server runs when all clients have gone, and finds the kernel's queue full of them.
TEST_F(ServerTest, clients_that_have_hung_up_take_no_place) {
  auto server = Server::create(options_, backend_);
  ASSERT_TRUE(server) << server.error();
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < Server::clients_max; ++i) {
      const int fd = raw();
      put(fd, "abc");
      close(fd);
    }
    const int fd = raw();
    put(fd, status_request(round));
    const auto end = std::chrono::steady_clock::now() + 10s;
    FrameDecoder decoder(reply_bytes_max);
    pollfd reply{fd, POLLIN, 0};
    while (poll(&reply, 1, 0) == 0 && std::chrono::steady_clock::now() < end) {
      (*server)->run_once(1ms);
    }
    const json answer = get(fd, decoder);
    EXPECT_TRUE(answer.contains("result")) << round << ": " << answer;
    close(fd);
  }
}

TEST_F(ServerTest, pipelined_requests_are_answered_in_order) {
  start();
  const int fd = raw();
  std::string burst;
  for (int id = 1; id <= 50; ++id) {
    burst += status_request(id);
  }
  put(fd, burst);
  FrameDecoder decoder(reply_bytes_max);
  for (int id = 1; id <= 50; ++id) {
    EXPECT_EQ(get(fd, decoder)["id"], id);
  }
  close(fd);
}

TEST_F(ServerTest, a_message_in_single_bytes_is_answered) {
  options_.message_timeout = most_patience;
  start();
  const int fd = raw();
  for (const char c : status_request(5)) {
    put(fd, {&c, 1});
  }
  FrameDecoder decoder(reply_bytes_max);
  EXPECT_EQ(get(fd, decoder)["id"], 5);
  close(fd);
}

TEST_F(ServerTest, garbage_json_is_an_error_and_the_connection_stays) {
  start();
  const int fd = raw();
  FrameDecoder decoder(reply_bytes_max);
  put(fd, framed("this is not JSON"));
  EXPECT_EQ(get(fd, decoder)["error"]["code"], "malformed");
  put(fd, framed(std::string(5000, '[')));
  EXPECT_EQ(get(fd, decoder)["error"]["code"], "malformed");
  put(fd, status_request(6));
  EXPECT_EQ(get(fd, decoder)["id"], 6);
  close(fd);
}

TEST_F(ServerTest, an_oversized_or_empty_message_costs_the_connection) {
  start();
  for (const std::string_view prefix :
       {std::string_view("\x00\x10\x00\x01", 4), std::string_view("\xff\xff\xff\xff", 4),
        std::string_view("\0\0\0\0", 4)}) {
    const int fd = raw();
    FrameDecoder decoder(reply_bytes_max);
    put(fd, prefix);
    EXPECT_TRUE(get(fd, decoder).is_null());
    close(fd);
  }
  expect_alive();
}

TEST_F(ServerTest, a_message_of_exactly_one_mebibyte_is_read) {
  options_.message_timeout = most_patience;
  start();
  const int fd = raw();
  FrameDecoder decoder(reply_bytes_max);
  put(fd, framed(std::string(request_bytes_max, ' ')));
  EXPECT_EQ(get(fd, decoder)["error"]["code"], "malformed");
  close(fd);
}

TEST_F(ServerTest, a_client_that_stops_in_the_middle_is_closed) {
  start();
  const int fd = raw();
  FrameDecoder decoder(reply_bytes_max);
  put(fd, status_request(1).substr(0, 10));
  EXPECT_TRUE(get(fd, decoder).is_null());  // after message_timeout
  close(fd);
  expect_alive();
}

// As a daemon is that waits for a packet core.
TEST_F(ServerTest, a_client_is_not_slow_for_the_time_that_the_daemon_is_elsewhere) {
  options_.message_timeout = 1s;
  auto server = Server::create(options_, backend_);
  ASSERT_TRUE(server) << server.error();
  const int fd = raw();
  std::thread sender([fd] {
    put(fd, framed(R"({"version":1,"id":7,"method":"daemon.status"})" + std::string(100'000, ' ')));
  });
  FrameDecoder decoder(reply_bytes_max);
  auto reply = std::async(std::launch::async, [&] { return get(fd, decoder); });
  for (auto end = std::chrono::steady_clock::now() + most_patience;
       reply.wait_for(0s) != std::future_status::ready && std::chrono::steady_clock::now() < end;) {
    (*server)->run_once(10ms);
    std::this_thread::sleep_for(300ms);
  }
  EXPECT_EQ(reply.get()["id"], 7);
  sender.join();
  close(fd);
}

TEST_F(ServerTest, a_client_that_takes_no_reply_is_closed) {
  backend_.fdb_entries = 9000;  // a reply that no socket buffer holds
  start();
  const int fd = raw();
  const std::string request =
      framed(R"({"version":1,"id":1,"method":"fdb.list","params":{"limit":10000}})");
  put(fd, request);
  pollfd hung_up{fd, 0, 0};
  ASSERT_EQ(poll(&hung_up, 1, static_cast<int>(std::chrono::milliseconds(most_patience).count())),
            1)
      << "the server still waits";
  FrameDecoder decoder(reply_bytes_max);
  EXPECT_TRUE(get(fd, decoder).is_null());
  close(fd);
  expect_alive();
}

TEST_F(ServerTest, a_silent_client_is_closed) {
  options_.idle_timeout = 100ms;
  start();
  const int fd = raw();
  FrameDecoder decoder(reply_bytes_max);
  EXPECT_TRUE(get(fd, decoder).is_null());
  close(fd);
}

// It is not silent while it sends a request.
// It has begun before the server looks whether it is idle.
TEST_F(ServerTest, a_client_that_is_slow_to_ask_is_answered) {
  options_.idle_timeout = 100ms;
  options_.message_timeout = most_patience;
  auto server = Server::create(options_, backend_);
  ASSERT_TRUE(server) << server.error();
  const int fd = raw();
  const auto request = status_request(7);
  put(fd, std::string_view(request).substr(0, 10));
  for (const auto end = std::chrono::steady_clock::now() + 300ms;
       std::chrono::steady_clock::now() < end;) {
    (*server)->run_once(10ms);
  }
  put(fd, std::string_view(request).substr(10));
  auto answer = std::async(std::launch::async, [fd] {
    FrameDecoder decoder(reply_bytes_max);
    return get(fd, decoder);
  });
  while (answer.wait_for(0ms) != std::future_status::ready) {
    (*server)->run_once(10ms);
  }
  EXPECT_EQ(answer.get()["id"], 7);
  close(fd);
}

TEST_F(ServerTest, clients_that_die_in_the_middle_leave_their_place) {
  start();
  for (int i = 0; i < 100; ++i) {
    const int fd = raw();
    put(fd, status_request(1).substr(0, static_cast<std::size_t>(i % 30)));
    if (i % 3 == 0) {
      put(fd, status_request(1));
    }
    close(fd);
  }
  expect_alive();
}

TEST_F(ServerTest, who_comes_while_the_backlog_is_full_waits) {
  auto server = Server::create(options_, backend_);
  ASSERT_TRUE(server) << server.error();
  std::vector<int> waiting;
  for (bool is_full = false; !is_full;) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, options_.socket.c_str(), sizeof(address.sun_path) - 1);
    is_full = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0;
    waiting.push_back(fd);
    ASSERT_LT(waiting.size(), 5000u);
  }
  EXPECT_FALSE(Client::connect(options_.socket, 0ms));
  auto late = std::async(std::launch::async, [this] {
    return client().call("daemon.status", json::object()).has_value();
  });
  std::this_thread::sleep_for(50ms);
  for (const int fd : waiting) {
    close(fd);
  }
  while (late.wait_for(0ms) != std::future_status::ready) {
    (*server)->run_once(10ms);
  }
  EXPECT_TRUE(late.get());
}

TEST_F(ServerTest, the_reply_to_shutdown_leaves_before_the_server_ends) {
  auto server = Server::create(options_, backend_);
  ASSERT_TRUE(server) << server.error();
  auto call = std::async(std::launch::async, [this] {
    return client().call("daemon.shutdown", json::object()).has_value();
  });
  while (backend_.shutdowns == 0) {
    (*server)->run_once(10ms);
  }
  server->reset();
  EXPECT_TRUE(call.get());
}

TEST(ClientTest, connect_without_a_daemon_says_so) {
  const auto connected = Client::connect("/nonexistent/control.sock", 100ms);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().kind, CallError::Kind::no_daemon);
}

TEST(ClientTest, call_of_a_deaf_daemon_times_out) {
  TemporaryDirectory directory;
  const auto listener = Listener::create(directory / "deaf.sock", "");
  ASSERT_TRUE(listener) << listener.error();
  auto connected = Client::connect(directory / "deaf.sock", 50ms);
  ASSERT_TRUE(connected);
  const auto result = connected->call("daemon.status", json::object());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, CallError::Kind::timeout);
}

TEST(ClientTest, an_answer_that_comes_too_late_is_not_taken_for_the_next) {
  TemporaryDirectory directory;
  const auto listener = Listener::create(directory / "slow.sock", "");
  ASSERT_TRUE(listener) << listener.error();
  auto connected = Client::connect(directory / "slow.sock", 500ms);
  ASSERT_TRUE(connected);
  EXPECT_FALSE(connected->call("first", json::object()));
  EXPECT_FALSE(connected->call("second", json::object()));
  const int fd = accept(listener->fd(), nullptr, nullptr);
  for (const auto& reply : {reply_text(1, Failure{ErrorCode::refused, "too late", {}}),
                            reply_text(2, json("late, too")), reply_text(3, json("right"))}) {
    const auto frame = framed(reply);
    ASSERT_EQ(send(fd, frame.data(), frame.size(), 0), static_cast<ssize_t>(frame.size()));
  }
  const auto result = connected->call("third", json::object());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(*result, "right");
  close(fd);
}

}  // namespace
}  // namespace tributary::control
