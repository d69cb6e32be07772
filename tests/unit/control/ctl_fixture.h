// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "control/server.h"
#include "fake_backend.h"
#include "support/temporary_directory.h"

namespace tributary::control {

struct Ran {
  int code = -1;
  std::string output;  // standard output and error
};

class CtlTest : public testing::Test {
 protected:
  CtlTest() {
    spdlog::set_level(spdlog::level::off);
    options_.socket = directory_ / "control.sock";
  }
  ~CtlTest() override {
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
        server->run_once(std::chrono::milliseconds(10));
      }
      server.reset();
    });
  }
  Ran run(const std::string& arguments, const std::string& prefix = "") const {
    const std::string command =
        prefix + TRIBUTARYCTL + " --socket " + options_.socket + " " + arguments + " 2>&1";
    Ran outcome;
    std::FILE* const pipe = popen(command.c_str(), "r");
    std::array<char, 4096> chunk{};
    while (const std::size_t size = std::fread(chunk.data(), 1, chunk.size(), pipe)) {
      outcome.output.append(chunk.data(), size);
    }
    outcome.code = WEXITSTATUS(pclose(pipe));
    return outcome;
  }
  std::string file(const std::string& text) const {
    const std::string path = directory_ / "c.toml";
    std::ofstream(path) << text;
    return path;
  }

  tributary::test::TemporaryDirectory directory_;
  ServerOptions options_;
  FakeBackend backend_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace tributary::control
