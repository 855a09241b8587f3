// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A minimal registrar for tests of its clients: real sockets and messages, with switches for
/// failures.

#include <QtGlobal>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agents/net/loop.h"
#include "agents/net/socket.h"
#include "agents/wire/convert.h"

namespace tessera::test {

class FakeRegistrar {
 public:
  /// Returns the answer; nullopt: none is sent. Runs on the registrar's thread.
  using Answer = std::function<std::optional<wire::Reply>(const wire::Request&)>;

  FakeRegistrar() {
    Open("tcp://127.0.0.1:*", "tcp://127.0.0.1:*");
    thread_ = std::jthread([this] {
      loop_.Run();
      Close();
    });
  }
  ~FakeRegistrar() {
    loop_.Stop();
    thread_.join();
  }

  const agents::CurveKeys& keys() const { return keys_; }
  const std::string& commands_endpoint() const { return commands_endpoint_; }
  const std::string& events_endpoint() const { return events_endpoint_; }
  void Allow(std::vector<std::string> public_keys) { context_.SetAllowed(std::move(public_keys)); }

  /// Runs `task` on the registrar's thread and waits for it.
  void Do(std::function<void()> task) {
    std::promise<void> done;
    loop_.Post([&] {
      task();
      done.set_value();
    });
    done.get_future().wait();
  }

  // On the registrar's thread, so inside Do().

  /// Requests in the order of arrival, including Hello.
  std::vector<wire::Request> requests;
  int num_of(wire::Request::BodyCase body) const {
    int count = 0;
    for (const auto& request : requests) count += request.body_case() == body ? 1 : 0;
    return count;
  }
  std::uint32_t major = agents::kProtocolMajor;
  std::uint32_t minor = agents::kProtocolMinor;
  std::string role = "operator";  // of the client
  std::string incarnation = "first";
  engine::ClusterSnapshot snapshot{"test", 0, 0, false, {}, {}, {}};
  std::vector<engine::Event> history;
  /// Called first for all requests but Hello. The defaults answer if it is empty or returns
  /// nullopt.
  Answer answer;
  /// Raw bytes instead of the next answers.
  std::vector<std::string> garbage;
  bool swallow = false;
  std::uint64_t published = 0;

  void Publish(wire::Published message) {
    message.set_sequence(++published);
    Send(*events_, {}, message.SerializeAsString());
  }
  /// Bytes that need not be a message.
  void PublishBytes(std::string bytes) { Send(*events_, {}, std::move(bytes)); }
  /// How `snapshot` differs from what was published last.
  void PublishSnapshot() {
    wire::Published message;
    agents::Encode(engine::Advance(published_state_, snapshot), message.mutable_change());
    Publish(std::move(message));
  }
  /// The same, but it does not arrive.
  void LoseSnapshot() {
    static_cast<void>(engine::Advance(published_state_, snapshot));
    ++published;
  }
  void PublishEvent(engine::Event event) {
    history.push_back(event);
    wire::Published message;
    agents::Encode(event, message.mutable_event());
    Publish(std::move(message));
  }
  void Close() {
    if (commands_) loop_.Unwatch(*commands_);
    commands_.reset();
    events_.reset();
  }
  /// Binds the same ports again.
  void Reopen() {
    // ZeroMQ releases a port shortly after its socket was closed.
    for (int i = 0; i < 500; ++i) {
      if (Open(commands_endpoint_, events_endpoint_)) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    qFatal("cannot bind %s again", commands_endpoint_.c_str());
  }

 private:
  bool Open(const std::string& commands, const std::string& events) {
    auto router = agents::Socket::Server(context_, agents::SocketKind::kRouter, keys_);
    auto pub = agents::Socket::Server(context_, agents::SocketKind::kPub, keys_);
    if (!router || !pub) qFatal("no sockets");
    auto bound = router->Bind(commands);
    if (!bound) return false;
    auto bound_events = pub->Bind(events);
    if (!bound_events) return false;
    commands_endpoint_ = *bound;
    events_endpoint_ = *bound_events;
    commands_.emplace(std::move(*router));
    events_.emplace(std::move(*pub));
    loop_.Watch(*commands_, [this] { Read(); });
    return true;
  }

  void Read() {
    auto message = commands_->Receive();
    if (!message || !*message || (*message)->size() != 2) return;
    const std::string peer((*message)->Text(0));
    wire::Request request;
    if (!request.ParseFromString(std::string((*message)->Text(1)))) qFatal("bad request");
    requests.push_back(request);
    if (request.has_hello()) return Reply(peer, request, Hello());
    if (!garbage.empty()) {
      Send(*commands_, peer, garbage.back());
      garbage.pop_back();
      return;
    }
    if (answer) {
      if (auto reply = answer(request)) return Reply(peer, request, std::move(*reply));
    }
    if (swallow) return;
    Reply(peer, request, Default(request));
  }

  wire::Reply Hello() const {
    wire::Reply reply;
    reply.mutable_hello()->set_major(major);
    reply.mutable_hello()->set_minor(minor);
    reply.mutable_hello()->set_cluster("test");
    reply.mutable_hello()->set_role(role);
    reply.mutable_hello()->set_key_name("laptop");
    reply.mutable_hello()->set_incarnation(incarnation);
    return reply;
  }

  wire::Reply Default(const wire::Request& request) const {
    wire::Reply reply;
    if (request.has_status()) {
      engine::ClusterSnapshot now = snapshot;
      now.sequence = std::max(now.sequence, static_cast<std::int64_t>(published));
      agents::Encode(now, reply.mutable_status());
    } else if (request.has_events()) {
      std::vector<engine::Event> found;
      for (const auto& event : history) {
        if (event.sequence > request.events().after_sequence()) found.push_back(event);
      }
      const auto limit = static_cast<std::size_t>(request.events().limit());
      const std::size_t first = found.size() > limit ? found.size() - limit : 0;
      reply.mutable_events();
      for (std::size_t i = first; i < found.size(); ++i) {
        agents::Encode(found[i], reply.mutable_events()->add_events());
      }
    } else {
      agents::Encode(NotFound("test: no answer to this"), reply.mutable_error());
    }
    return reply;
  }

  void Reply(const std::string& peer, const wire::Request& request, wire::Reply reply) {
    reply.set_id(request.id());
    reply.set_sequence(request.sequence());
    Send(*commands_, peer, reply.SerializeAsString());
  }

  static void Send(agents::Socket& socket, const std::string& peer, std::string bytes) {
    std::vector<agents::Frame> frames;
    if (!peer.empty()) frames.push_back(agents::Frame::Of(peer));
    frames.push_back(agents::Frame::Of(std::move(bytes)));
    static_cast<void>(socket.Send(std::move(frames)));
  }

  agents::NetContext context_;
  const agents::CurveKeys keys_ = agents::NewCurveKeys();
  agents::Loop loop_;
  engine::ClusterSnapshot published_state_;
  std::optional<agents::Socket> commands_;
  std::optional<agents::Socket> events_;
  std::string commands_endpoint_;
  std::string events_endpoint_;
  std::jthread thread_;
};

}  // namespace tessera::test
