// SPDX-License-Identifier: BSD-3-Clause
#include "fanout.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tributary::pktgen {
namespace {

constexpr int processes_max = 16;

// Asks for the group that the driver will ask for. Whatever else is wrong will be told better when
// the port is opened.
bool clashes(const std::string& interface) {
  const unsigned index = if_nametoindex(interface.c_str());
  const int descriptor = socket(AF_PACKET, SOCK_RAW, 0);
  if (descriptor < 0) {
    return false;
  }
  sockaddr_ll address = {};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(index);
  const auto group = (static_cast<unsigned>(getpid()) ^ index) & 0xffff;
  const unsigned fanout = group | (PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_DEFRAG) << 16;
  const bool bound = bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  const bool refused =
      bound && setsockopt(descriptor, SOL_PACKET, PACKET_FANOUT, &fanout, sizeof fanout) != 0 &&
      errno == EINVAL;
  close(descriptor);
  return refused;
}

// Until the child ends; what it ended with.
int attend(pid_t child, const sigset_t& signals) {
  while (true) {
    int number = 0;
    sigwait(&signals, &number);
    if (number != SIGCHLD) {
      kill(child, number);
      continue;
    }
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child && !WIFSTOPPED(status)) {
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
  }
}

}  // namespace

int run_without_clash(const std::vector<std::string>& interfaces, const std::function<int()>& run) {
  sigset_t signals;
  sigset_t before;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGCHLD}) {
    sigaddset(&signals, number);
  }
  for (int i = 0; i < processes_max && std::any_of(interfaces.begin(), interfaces.end(), clashes);
       ++i) {
    sigprocmask(SIG_BLOCK, &signals, &before);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child > 0) {
      return attend(child, signals);
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);
    if (child < 0) {
      break;
    }
    setpgid(0, 0);  // else Ctrl-C would reach it twice
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
      _exit(1);
    }
  }
  return run();
}

}  // namespace tributary::pktgen
