// SPDX-License-Identifier: BSD-3-Clause
#include "doctor.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <liburing.h>

#include "control/cores.h"
#include "lists.h"

namespace tributary::ctl {
namespace {

using nlohmann::json;

enum class Verdict { ok, slow, missing };  // slow: works, but something is lost

struct Finding {
  std::string check;
  Verdict verdict = Verdict::ok;
  std::string detail;
  std::string remedy;  // a line to type; empty if ok
};

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Returns the number behind `key` in a file of "key: value" lines; `base` is as in strtoull.
std::uint64_t keyed_number(const char* path, const std::string& key, int base = 10) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) {
      return std::strtoull(line.c_str() + key.size(), nullptr, base);
    }
  }
  return 0;
}

constexpr unsigned cap_net_admin = 12;
constexpr unsigned cap_net_raw = 13;
constexpr unsigned cap_ipc_lock = 14;

bool capable(unsigned capability) {
  return ((keyed_number("/proc/self/status", "CapEff:", 16) >> capability) & 1) != 0;
}

Finding check_privileges() {
  const bool enough = capable(cap_net_admin) && capable(cap_net_raw);
  if (enough) {
    return {"privileges", Verdict::ok, "ports on interfaces can be opened", ""};
  }
  return {"privileges", Verdict::missing,
          "interfaces and TAPs need CAP_NET_ADMIN and CAP_NET_RAW, which this program, as you run "
          "it, lacks; "
          "a daemon that has them by setcap needs nothing else",
          "setcap cap_net_admin,cap_net_raw,cap_ipc_lock,cap_bpf+ep $(command -v tributaryd)"};
}

Finding check_io_uring() {
  io_uring ring{};
  const int error = io_uring_queue_init(8, &ring, 0);
  if (error == 0) {
    io_uring_queue_exit(&ring);
    return {"io_uring", Verdict::ok, "available", ""};
  }
  return {"io_uring", Verdict::missing, std::strerror(-error),
          error == -ENOMEM ? "ulimit -l unlimited" : "sysctl -w kernel.io_uring_disabled=0"};
}

// Counts the huge pages of all sizes.
std::uint64_t hugepages(const char* which) {
  std::uint64_t pages = 0;
  std::error_code error;
  for (const auto& size : std::filesystem::directory_iterator("/sys/kernel/mm/hugepages", error)) {
    pages += std::strtoull(first_line(size.path() / which).c_str(), nullptr, 10);
  }
  return pages;
}

Finding check_hugepages() {
  const auto total = hugepages("nr_hugepages");
  const auto free = hugepages("free_hugepages");
  if (free > 0) {
    return {"hugepages", Verdict::ok,
            std::to_string(free) + " of " + std::to_string(total) + " free", ""};
  }
  return {"hugepages", Verdict::slow,
          total == 0 ? "none reserved: more TLB misses, no physical devices" : "none is free",
          "sysctl -w vm.nr_hugepages=" +
              std::to_string(keyed_number("/proc/meminfo", "HugePages_Total:") + 512)};
}

Finding check_receive_buffer() {
  constexpr std::uint64_t wanted = 16 * 1024 * 1024;
  const std::string text = first_line("/proc/sys/net/core/rmem_max");
  const auto bytes = std::strtoull(text.c_str(), nullptr, 10);
  if (bytes >= wanted) {
    return {"rmem_max", Verdict::ok, bytes_for_people(static_cast<double>(bytes)), ""};
  }
  return {"rmem_max", Verdict::slow,
          bytes_for_people(static_cast<double>(bytes)) + ": workers get a small window",
          "sysctl -w net.core.rmem_max=" + std::to_string(wanted)};
}

Finding check_memlock() {
  constexpr rlim_t wanted = 64 * 1024 * 1024;
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  if (limit.rlim_cur == RLIM_INFINITY || capable(cap_ipc_lock)) {
    return {"memlock", Verdict::ok, "unlimited", ""};
  }
  const std::string size = bytes_for_people(static_cast<double>(limit.rlim_cur));
  if (limit.rlim_cur >= wanted) {
    return {"memlock", Verdict::ok, size, ""};
  }
  return {"memlock", Verdict::slow, size + ": AF_XDP and hugepages may not get their memory",
          "ulimit -l unlimited"};
}

Finding check_governor() {
  std::string other;
  std::size_t cpus = 0;
  for (const unsigned cpu : control::automatic_cores()) {
    const std::string governor = first_line("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                                            "/cpufreq/scaling_governor");
    cpus += governor.empty() ? 0 : 1;
    if (!governor.empty() && governor != "performance") {
      other = governor;
    }
  }
  if (other.empty()) {
    return {"cpu governor", Verdict::ok, cpus == 0 ? "left to the machine" : "performance", ""};
  }
  return {"cpu governor", Verdict::slow, other + ": clocks fall while cores sleep",
          "cpupower frequency-set -g performance"};
}

// Looks at what the daemon, if one runs, does with idle cores; polling all of them starves
// everything else.
Finding check_sleeping(const Options& options) {
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  Options impatient = options;
  impatient.timeout_s = std::min(options.timeout_s, 1.0);
  const auto status = call_daemon(impatient, "daemon.status", json::object());
  if (!status) {
    return {"sleeping", Verdict::ok,
            std::to_string(cpus) + " CPUs, no daemon to ask; idle = \"adaptive\" is the default",
            ""};
  }
  const std::string idle = status->value("idle", "?");
  const auto cores = static_cast<long>(status->value("cores", json::array()).size());
  if (idle == "poll" && cores >= cpus) {
    return {"sleeping", Verdict::slow, "the daemon polls on every CPU of this host",
            "idle = \"adaptive\"   # in [daemon] of its configuration"};
  }
  return {"sleeping", Verdict::ok,
          idle + " on " + std::to_string(cores) + " of " + std::to_string(cpus) + " CPUs", ""};
}

// Asks the driver of an interface; returns false if it has no answer.
template <class Command>
bool ask_driver(int fd, const std::string& interface, Command& command) {
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_data = reinterpret_cast<char*>(&command);  // the ioctl's calling convention
  return ioctl(fd, SIOCETHTOOL, &request) == 0;
}

// veth and TAP hand over packets whose checksums the hardware was to finish; there is none.
std::vector<Finding> check_offloads() {
  std::vector<std::string> unfinished;
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/class/net", error)) {
    const std::string interface = entry.path().filename();
    ethtool_drvinfo driver{};
    driver.cmd = ETHTOOL_GDRVINFO;
    ethtool_value checksum{};
    checksum.cmd = ETHTOOL_GTXCSUM;
    if (!ask_driver(fd, interface, driver) || !ask_driver(fd, interface, checksum)) {
      continue;
    }
    const std::string_view name(driver.driver, strnlen(driver.driver, sizeof(driver.driver)));
    if ((name == "veth" || name == "tun") && checksum.data != 0) {
      unfinished.push_back(interface);
    }
  }
  close(fd);
  if (unfinished.empty()) {
    return {{"checksums", Verdict::ok, "no veth or TAP leaves them unfinished", ""}};
  }
  std::sort(unfinished.begin(), unfinished.end());
  std::vector<Finding> findings;
  for (const std::string& interface : unfinished) {
    findings.push_back({"checksums", Verdict::slow,
                        interface + " sends packets with unfinished checksums",
                        "ethtool -K " + interface + " tx off"});
  }
  return findings;
}

constexpr const char* verdict_names[] = {"ok", "slow", "missing"};

void print(const std::vector<Finding>& findings) {
  std::vector<Cells> rows;
  for (const Finding& finding : findings) {
    rows.push_back(
        {verdict_names[static_cast<std::size_t>(finding.verdict)], finding.check, finding.detail});
    if (!finding.remedy.empty()) {
      rows.push_back({"", "", "  -> " + finding.remedy});
    }
  }
  print_table({{"VERDICT"}, {"CHECK"}, {"DETAIL"}}, rows);
}

}  // namespace

ExitCode doctor(const Options& options) {
  std::vector<Finding> findings = {check_privileges(),     check_io_uring(), check_hugepages(),
                                   check_receive_buffer(), check_memlock(),  check_governor(),
                                   check_sleeping(options)};
  for (Finding& finding : check_offloads()) {
    findings.push_back(std::move(finding));
  }
  const bool works = std::none_of(findings.begin(), findings.end(),
                                  [](const Finding& f) { return f.verdict == Verdict::missing; });
  if (!options.json) {
    print(findings);
    return works ? ExitCode::ok : ExitCode::failed;
  }
  json rows = json::array();
  for (const Finding& finding : findings) {
    rows.push_back({{"check", finding.check},
                    {"verdict", verdict_names[static_cast<std::size_t>(finding.verdict)]},
                    {"detail", finding.detail},
                    {"remedy", finding.remedy.empty() ? json(nullptr) : json(finding.remedy)}});
  }
  print_json(rows);
  return works ? ExitCode::ok : ExitCode::failed;
}

}  // namespace tributary::ctl
