// SPDX-License-Identifier: Apache-2.0
#include "tests/support/connections.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

namespace tessera::test {
namespace {

/// "socket:[12345]": what the process has open.
std::set<std::string> SocketsOf(std::int64_t pid) {
  std::set<std::string> sockets;
  std::error_code ignored;
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string target = std::filesystem::read_symlink(entry.path(), ignored).string();
    if (target.starts_with("socket:[")) sockets.insert(target);
  }
  return sockets;
}

/// A line of /proc/net/tcp, with addresses as it prints them: 0100007F:1CE8.
struct Connection {
  std::string local, remote, socket;
};

std::vector<Connection> Connections() {
  constexpr const char* kEstablished = "01";
  std::vector<Connection> connections;
  std::ifstream table("/proc/self/net/tcp");
  std::string line;
  for (std::getline(table, line); std::getline(table, line);) {
    std::istringstream fields(line);
    std::string number, state, queues, timer, retries, user, timeout, inode;
    Connection connection;
    fields >> number >> connection.local >> connection.remote >> state >> queues >> timer >>
        retries >> user >> timeout >> inode;
    if (state != kEstablished && state != "08") continue;  // or one that the other end has closed
    connection.socket = "socket:[" + inode + "]";
    connections.push_back(std::move(connection));
  }
  return connections;
}

}  // namespace

int NumConnections(std::int64_t server, const std::string& endpoint, std::int64_t client) {
  const int port = std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
  const auto servers = SocketsOf(server);
  const auto clients = SocketsOf(client);
  const auto connections = Connections();
  std::set<std::string> ends;
  for (const Connection& each : connections) {
    if (clients.contains(each.socket)) ends.insert(each.local);
  }
  int count = 0;
  for (const Connection& each : connections) {
    const int local = std::stoi(each.local.substr(each.local.find(':') + 1), nullptr, 16);
    if (local == port && servers.contains(each.socket) && ends.contains(each.remote)) ++count;
  }
  return count;
}

}  // namespace tessera::test
