// SPDX-License-Identifier: Apache-2.0
#include "tests/support/hostile_peers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "agents/wire/tessera/wire/control.pb.h"

namespace tessera::test {
namespace {
constexpr int kQueued = 200'000;  // messages

bool Send(agents::Socket& socket, const wire::Request& request) {
  std::vector<agents::Frame> frames;
  frames.push_back(agents::Frame::Of(request.SerializeAsString()));
  return socket.Send(std::move(frames)).has_value();
}

}  // namespace

Flooder::Flooder(Target target) : thread_([this, target = std::move(target)] { Run(target); }) {}

Flooder::~Flooder() {
  ends_ = true;
  thread_.join();
}

std::string Flooder::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_;
}

void Flooder::Run(const Target& target) {
  const sched_param none{};
  ::pthread_setschedparam(::pthread_self(), SCHED_IDLE, &none);
  agents::NetContext net;  // whose threads inherit that
  auto socket =
      agents::Socket::Client(net, agents::SocketKind::kDealer, target.keys, target.server_key);
  if (!socket || !socket->Connect(target.endpoint)) return;
  wire::Request request;
  request.mutable_status();
  request.set_id("flood");
  while (!ends_) {
    if (Send(*socket, request)) {
      ++num_sent_;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // its queue is full
    }
    while (const auto reply = socket->Receive()) {
      if (!*reply) break;
      wire::Reply answer;
      const auto frame = (**reply)[0];
      if (!answer.ParseFromArray(frame.data(), static_cast<int>(frame.size()))) continue;
      if (!answer.has_error()) continue;
      const std::lock_guard lock(mutex_);
      refusal_ = answer.error().message();
    }
  }
}

StalledReader::StalledReader(const Target& target, int requests) {
  auto socket =
      agents::Socket::Client(net_, agents::SocketKind::kDealer, target.keys, target.server_key);
  if (!socket || !socket->SetHighWater(kQueued, 1) || !socket->Connect(target.endpoint)) return;
  socket_ = std::make_unique<agents::Socket>(std::move(*socket));
  wire::Request request;
  request.mutable_events()->set_limit(10'000);
  for (int i = 0; i < requests; ++i) {
    request.set_id(std::to_string(i));
    static_cast<void>(Send(*socket_, request));
  }
}

int ConnectTo(const std::string& endpoint) {
  const std::size_t colon = endpoint.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(endpoint.substr(colon + 1))));
  ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    ::close(fd);
    return -1;
  }
  return fd;
}

SilentConnections::SilentConnections(const std::string& endpoint, int count) {
  for (int i = 0; i < count; ++i) {
    if (const int fd = ConnectTo(endpoint); fd >= 0) fds_.push_back(fd);
  }
}

SilentConnections::~SilentConnections() {
  for (const int fd : fds_) ::close(fd);
}

}  // namespace tessera::test
