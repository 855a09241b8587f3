// SPDX-License-Identifier: Apache-2.0
#include "agents/client/cluster.h"

#include <errno.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <future>
#include <map>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "agents/net/backoff.h"
#include "agents/net/duration_text.h"
#include "agents/net/local_address.h"
#include "agents/net/loop.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/utf8.h"
#include "engine/cluster/snapshot_change.h"
#include "ptc/base/check.h"

namespace tessera::agents {
namespace {

using std::chrono::milliseconds;

// From the first packet to the reply to Hello.
constexpr milliseconds kConnectTimeout{5000};
constexpr milliseconds kInternalTimeout{10000};  // of the client's own requests
constexpr std::int64_t kFirstEvents = 500;
constexpr std::int64_t kMissedEvents = 10000;
constexpr std::size_t kMostHeldChanges = 1000;
constexpr milliseconds kAskAgain{1000};  // for the state
// A registrar that has said goodbye still answers for a moment.
constexpr milliseconds kAfterGoodbye{5000};

/// "tesseractl 0.1.0"
std::string ProgramOfThisProcess() {
  return std::string(program_invocation_short_name) + " " TESSERA_VERSION;
}

/// "user@host", for the records of what a user has done.
std::string UserOfThisProcess() {
  std::array<char, 4096> text{};
  passwd entry{};
  passwd* found = nullptr;
  std::string user = std::to_string(::getuid());
  if (::getpwuid_r(::getuid(), &entry, text.data(), text.size(), &found) == 0 && found) {
    user = found->pw_name;
  }
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) return Utf8(user);
  return Utf8(user + "@" + host.data());
}

/// 128 random bits in hex.
std::string NewRequestId() {
  static thread_local std::random_device random;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string id;
  for (int word = 0; word < 4; ++word) {
    auto bits = random();
    for (int digit = 0; digit < 8; ++digit, bits >>= 4) id += kDigits[bits & 15];
  }
  return id;
}

/// "start_job": the request's name in control.proto.
std::string NameOf(wire::Request::BodyCase request) {
  const auto* field = wire::Request::descriptor()->FindFieldByNumber(static_cast<int>(request));
  return field != nullptr ? std::string(field->name()) : "empty";  // Protobuf 30 returns a view
}

/// The reply of the same name, or else `done`.
wire::Reply::BodyCase ReplyTo(wire::Request::BodyCase request) {
  if (request == wire::Request::BODY_NOT_SET) return wire::Reply::BODY_NOT_SET;
  const auto* field = wire::Reply::descriptor()->FindFieldByName(NameOf(request));
  return field != nullptr ? static_cast<wire::Reply::BodyCase>(field->number())
                          : wire::Reply::kDone;
}

}  // namespace

struct ClusterClient::Impl {
  using Done = std::function<void(Result<wire::Reply>)>;

  struct PendingCall {
    wire::Request request;
    milliseconds timeout;
    Loop::TimerId timer = 0;
    Done done;
    CallTracePtr trace;  // null: nobody reads it
  };
  /// A request of the client itself: it is not sent again, and dropped with the link.
  struct InternalCall {
    wire::Request::BodyCase asked = wire::Request::BODY_NOT_SET;
    Loop::TimerId timer = 0;
    Done done;
  };
  /// The sockets of one attempt; they are closed together.
  struct Link {
    std::optional<Socket> commands;
    std::optional<Socket> events;
    bool events_refused = false;
  };

  const Profile profile;
  const CurveKeys keys;
  const Handlers handlers;
  const bool with_stream;
  const milliseconds listen_patience;  // without the stream
  NetContext context;
  Loop loop;
  std::atomic<bool> closing{false};

  // The loop's thread.
  Link link;
  LinkState state = LinkState::kConnecting;
  std::string detail;  // of `state`
  std::optional<std::pair<LinkState, std::string>> reported;
  std::string problem;         // why the last attempt failed
  std::string note;            // the last malformed message, for error texts
  std::int64_t malformed = 0;  // such messages
  bool was_connected = false;
  std::optional<std::string> goodbye;  // of a command: why the cluster went down
  int failed_handshakes = 0;  // in a row
  /// Since when no process has listened.
  std::optional<std::chrono::steady_clock::time_point> nobody_since;
  Backoff backoff;
  Loop::TimerId attempt_timer = 0, ask_snapshot_timer = 0;
  std::map<std::uint64_t, PendingCall> calls;    // by order of Call
  std::map<std::string, InternalCall> internal;  // by request id
  std::uint64_t next_call = 1;
  std::uint64_t last_sequence = 0;
  // The stream.
  std::optional<std::uint64_t> last_published;
  std::shared_ptr<engine::ClusterSnapshot> cluster;              // as the last publication says
  bool cluster_is_shared = false;                                // it was handed out
  std::map<std::uint64_t, engine::SnapshotChange> held_changes;  // by sequence, until it is there
  std::int64_t last_event = 0;
  std::string incarnation;      // of the cluster, as it said last
  bool wants_snapshot = false;  // until one is there that has what was missed
  bool asked_snapshot = false, ask_snapshot_again = false;
  bool asked_events = false, ask_events_again = false;
  std::map<std::int64_t, engine::Event>
      held_events;  // arrived while older ones are being requested

  std::jthread thread;  // last: it uses all of the above

  Impl(Profile which, CurveKeys own, Handlers whom, bool stream,
       milliseconds patience = kListenPatience)
      : profile(std::move(which)),
        keys(std::move(own)),
        handlers(std::move(whom)),
        with_stream(stream),
        listen_patience(patience) {}

  // ---- connecting ----

  Status OpenLinkOnLoop() {
    Link fresh;
    TESSERA_TRY(Socket commands,
                Socket::Client(context, SocketKind::kDealer, keys, profile.server_key));
    TESSERA_RETURN_IF_ERROR(commands.Monitor(context));
    TESSERA_RETURN_IF_ERROR(commands.Connect(ConnectableEndpoint(profile.registrar_endpoint)));
    fresh.commands.emplace(std::move(commands));
    if (with_stream) {
      TESSERA_TRY(Socket events,
                  Socket::Client(context, SocketKind::kSub, keys, profile.server_key));
      TESSERA_RETURN_IF_ERROR(events.Monitor(context));
      TESSERA_RETURN_IF_ERROR(events.Subscribe(""));
      TESSERA_RETURN_IF_ERROR(events.Connect(ConnectableEndpoint(profile.events_endpoint)));
      fresh.events.emplace(std::move(events));
    }
    link = std::move(fresh);
    loop.Watch(*link.commands, [this] { ReadReplies(); });
    loop.Watch(link.commands->monitor(), [this] { ReadMonitor(); });
    if (link.events) {
      loop.Watch(*link.events, [this] { ReadStream(); });
      loop.Watch(link.events->monitor(), [this] { ReadEventsMonitor(); });
    }
    attempt_timer = loop.After(kConnectTimeout, [this] {
      FailLink(LinkState::kLost, "no answer from " + profile.registrar_endpoint + " within " +
                                     DurationText(kConnectTimeout));
    });
    return OkStatus();
  }

  void CloseLink() {
    loop.Cancel(attempt_timer);
    loop.Cancel(ask_snapshot_timer);
    if (link.commands) {
      loop.Unwatch(*link.commands);
      loop.Unwatch(link.commands->monitor());
    }
    if (link.events) {
      loop.Unwatch(*link.events);
      loop.Unwatch(link.events->monitor());
    }
    link = Link{};
    last_published.reset();
    cluster.reset();
    held_changes.clear();
    held_events.clear();  // they are requested again, with the older ones
    asked_snapshot = ask_snapshot_again = asked_events = ask_events_again = false;
  }

  void SetState(LinkState next, std::string why) {
    state = next;
    detail = std::move(why);
    if (state == LinkState::kLost) problem = detail;
    if (state == LinkState::kConnected) problem.clear();
    if (reported && reported->first == state && reported->second == detail) return;
    reported.emplace(state, detail);
    if (handlers.link) handlers.link(state, detail);
  }

  /// Drops the link and tries again after the back-off. Open calls wait, unless the link is
  /// refused or the cluster stopped.
  void FailLink(LinkState next, std::string why) {
    if (!link.commands) return;
    CloseLink();
    DropInternalCalls();
    if (goodbye) {  // which explains whatever fails after it
      next = LinkState::kRefused;
      why = *goodbye;
    }
    // Nobody listens where a stopped cluster was, which is no news.
    if (state != LinkState::kStopped || next != LinkState::kLost) SetState(next, why);
    if (next == LinkState::kRefused) FailAllCalls(FailedPrecondition(why));
    if (next == LinkState::kStopped) FailAllCalls(Unavailable(why));
    ReopenLater(next == LinkState::kStopped ? kAfterGoodbye : milliseconds(0));
  }

  void ReopenLater(milliseconds at_least = {}) {
    if (goodbye) at_least = kAfterGoodbye;
    loop.After(std::max(backoff.Next(), at_least), [this] {
      // The state stays kRefused or kStopped until an attempt succeeds.
      const bool stays = state == LinkState::kRefused || state == LinkState::kStopped;
      if (!stays) SetState(LinkState::kConnecting, "connecting to " + profile.registrar_endpoint);
      if (auto opened = OpenLinkOnLoop(); !opened) {
        if (state != LinkState::kStopped) SetState(LinkState::kLost, opened.error().ToString());
        ReopenLater();
      }
    });
  }

  void ReadMonitor() {
    while (link.commands) {
      const auto event = link.commands->NextLinkEvent();
      if (!event) return;
      const std::string& endpoint = profile.registrar_endpoint;
      switch (event->kind) {
        case LinkEvent::Kind::kConnected:
          nobody_since.reset();
          break;
        case LinkEvent::Kind::kReady:
          SayHello();
          break;
        case LinkEvent::Kind::kRefused:
          return FailRefused(endpoint);
        case LinkEvent::Kind::kHandshakeFailed:
          return FailHandshake(endpoint);
        case LinkEvent::Kind::kDisconnected:
          FailLink(LinkState::kLost, "connection to " + endpoint + " was lost");
          return;
        case LinkEvent::Kind::kUnreachable:
          return FailUnreachable(endpoint);
      }
    }
  }

  /// A registrar that ends during the handshake looks like one with another key. So a command
  /// believes only the second failure in a row.
  void FailHandshake(const std::string& endpoint) {
    constexpr int kBelieved = 2;
    const bool is_final = !with_stream && ++failed_handshakes >= kBelieved;
    FailLink(is_final ? LinkState::kRefused : LinkState::kLost,
             "handshake with " + endpoint +
                 " failed: it is not an agent with the server key of profile " + profile.name);
  }

  void FailUnreachable(const std::string& endpoint) {
    const auto now = std::chrono::steady_clock::now();
    if (!nobody_since) nobody_since = now;
    const bool waits = with_stream || was_connected || !profile.directory.empty();
    const bool is_over = !waits && now - *nobody_since >= listen_patience;
    FailLink(LinkState::kLost, "no process listens at " + endpoint);
    if (is_over) {
      FailAllCalls(Unavailable("cannot reach " + endpoint + ": no process has listened there for " +
                               DurationText(listen_patience)));
    }
  }

  /// The cluster goes down on request. Only a panel waits for it to come back.
  /// To a command. A client with a stream reads its goodbye there, with the time.
  void TakeGoodbyeReply(const std::string& why) {
    if (with_stream) return;
    goodbye = why;
    FailLink(LinkState::kLost, why);
  }

  /// The cluster closes the connections of events when it revokes keys, and ZeroMQ does not try
  /// again where it was refused. Before the link is connected, its other connection says why.
  void ReadEventsMonitor() {
    while (link.events) {
      const auto event = link.events->NextLinkEvent();
      if (!event) return;
      link.events_refused |= event->kind == LinkEvent::Kind::kRefused;
      if (link.events_refused && state == LinkState::kConnected)
        return FailRefused(profile.events_endpoint);
    }
  }
  void FailRefused(const std::string& endpoint) {
    FailLink(LinkState::kRefused, "key refused by " + endpoint +
                                      ": this client's key is not in the cluster's allow-list");
  }

  void SayHello() {
    wire::Request request;
    request.mutable_hello()->set_major(kProtocolMajor);
    request.mutable_hello()->set_minor(kProtocolMinor);
    request.mutable_hello()->set_program(ProgramOfThisProcess());
    request.mutable_hello()->set_user(UserOfThisProcess());
    request.mutable_hello()->set_cluster(profile.cluster_name());
    CallInternal(std::move(request), [this](Result<wire::Reply> reply) {
      if (!reply) {
        const bool may_pass = reply.error().code == ErrorCode::kUnavailable ||
                              reply.error().code == ErrorCode::kTimeout;
        FailLink(may_pass ? LinkState::kLost : LinkState::kRefused, reply.error().ToString());
        return;
      }
      const wire::HelloReply& hello = reply->hello();
      if (hello.major() != kProtocolMajor || hello.minor() != kProtocolMinor) {
        FailLink(LinkState::kRefused, "protocol " + std::to_string(hello.major()) + "." +
                                          std::to_string(hello.minor()) + " of " +
                                          profile.registrar_endpoint + " is not " +
                                          std::to_string(kProtocolMajor) + "." +
                                          std::to_string(kProtocolMinor) + " of this program");
        return;
      }
      loop.Cancel(attempt_timer);
      backoff.Reset();
      was_connected = true;
      goodbye.reset();
      failed_handshakes = 0;
      auto owner = ParseRole(hello.role());
      if (!owner) {
        FailLink(LinkState::kRefused, owner.error().ToString());
        return;
      }
      owner->name = hello.key_name();
      // Events have numbers of their own in each.
      if (std::exchange(incarnation, hello.incarnation()) != hello.incarnation()) last_event = 0;
      if (handlers.incarnation) handlers.incarnation(incarnation);
      if (handlers.owner) handlers.owner(*owner);
      const std::string role = owner->role == Role::kOperator
                                   ? ""
                                   : " as " + RoleText(*owner) + " '" + owner->name + "'";
      SetState(LinkState::kConnected,
               "cluster " + hello.cluster() + " at " + profile.registrar_endpoint + role);
      if (link.events_refused) return FailRefused(profile.events_endpoint);
      for (auto& [order, call] : calls) SendCall(call);
      if (with_stream) {
        AskSnapshot();
        AskEvents();
      }
    });
  }

  // ---- calls ----

  void CallInternal(wire::Request request, Done done) {
    request.set_id(NewRequestId());
    InternalCall& call = internal[request.id()];
    call.asked = request.body_case();
    call.done = std::move(done);
    call.timer = loop.After(kInternalTimeout, [this, id = request.id()] {
      FinishInternal(id, Timeout("no reply within " + DurationText(kInternalTimeout)));
    });
    SendNow(request);
  }

  void FinishInternal(const std::string& id, Result<wire::Reply> result) {
    const auto found = internal.find(id);
    if (found == internal.end()) return;
    loop.Cancel(found->second.timer);
    const Done done = std::move(found->second.done);
    internal.erase(found);
    done(std::move(result));
  }

  void DropInternalCalls() {
    for (const auto& [id, call] : internal) loop.Cancel(call.timer);
    internal.clear();
  }

  void SendNow(wire::Request& request) {
    request.set_sequence(++last_sequence);
    std::vector<Frame> frames;
    frames.push_back(Frame::Of(request.SerializeAsString()));
    // If the queue is full or the link is closing, the call is sent after the reconnect or times
    // out.
    if (auto sent = link.commands->Send(std::move(frames)); !sent) note = sent.error().ToString();
  }

  void SendCall(PendingCall& call) {
    if (call.trace) call.trace->was_sent = true;
    SendNow(call.request);
  }

  void CallOnLoop(wire::Request request, milliseconds timeout, Done done, CallTracePtr trace) {
    if (closing) return done(ClosedError());
    if (state == LinkState::kRefused) return done(FailedPrecondition(detail));
    if (state == LinkState::kStopped) return done(Unavailable(detail));
    if (request.id().empty()) request.set_id(NewRequestId());
    const std::uint64_t order = next_call++;
    PendingCall& call = calls[order];
    call.request = std::move(request);
    call.timeout = timeout;
    call.done = std::move(done);
    call.trace = std::move(trace);
    call.timer = loop.After(timeout, [this, order] { TimeOut(order); });
    if (state == LinkState::kConnected) SendCall(call);
  }

  Error ClosedError() const {
    return Cancelled("connection to " + profile.registrar_endpoint + " was closed");
  }

  void TimeOut(std::uint64_t order) {
    const auto found = calls.find(order);
    if (found == calls.end()) return;
    const PendingCall& call = found->second;
    const std::string limit = DurationText(call.timeout);
    const std::string more = note.empty() ? "" : " (" + std::exchange(note, {}) + ")";
    if (state == LinkState::kConnected) {
      Finish(found, Timeout("no reply to " + NameOf(call.request.body_case()) + " from " +
                            profile.registrar_endpoint + " within " + limit + more));
    } else {
      Finish(found, Unavailable("cannot reach " + profile.registrar_endpoint + " within " + limit +
                                ": " + (problem.empty() ? detail : problem) + more));
    }
  }

  void Finish(std::map<std::uint64_t, PendingCall>::iterator call, Result<wire::Reply> result) {
    loop.Cancel(call->second.timer);
    const Done done = std::move(call->second.done);
    calls.erase(call);
    done(std::move(result));
  }

  void FailAllCalls(const Error& error) {
    auto failed = std::exchange(calls, {});
    for (auto& [order, call] : failed) {
      loop.Cancel(call.timer);
      call.done(error);
    }
  }

  void ReadReplies() {
    for (int n = 0; n < 64 && link.commands; ++n) {
      auto message = link.commands->Receive();
      if (!message || !*message) return;
      wire::Reply reply;
      const auto bytes = (**message)[0];
      if ((*message)->size() != 1 ||
          !reply.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        NoteMalformed("malformed reply of " + std::to_string(bytes.size()) + " bytes from " +
                      profile.registrar_endpoint);
        continue;
      }
      TakeReply(std::move(reply));
    }
  }

  Result<wire::Reply> Check(wire::Request::BodyCase asked, wire::Reply reply) const {
    if (reply.has_error()) return Decode(reply.error());
    if (reply.body_case() != ReplyTo(asked)) {
      return DataLoss("reply of kind " + std::to_string(reply.body_case()) + " from " +
                      profile.registrar_endpoint + " to a request of kind " +
                      std::to_string(asked));
    }
    return reply;
  }

  void TakeReply(wire::Reply reply) {
    if (reply.id().empty() && reply.has_goodbye()) return TakeGoodbyeReply(reply.goodbye().text());
    if (const auto found = internal.find(reply.id()); found != internal.end()) {
      const auto asked = found->second.asked;
      const std::string id = reply.id();
      return FinishInternal(id, Check(asked, std::move(reply)));
    }
    const auto found = std::find_if(calls.begin(), calls.end(), [&](const auto& entry) {
      return entry.second.request.id() == reply.id();
    });
    if (found == calls.end()) return;  // the call has timed out
    const auto asked = found->second.request.body_case();
    const bool is_answer = reply.has_error() || reply.body_case() == ReplyTo(asked);
    if (found->second.trace && is_answer) found->second.trace->was_answered = true;
    Finish(found, Check(asked, std::move(reply)));
  }

  // ---- the published stream ----

  void ReadStream() {
    for (int n = 0; n < 64 && link.events; ++n) {
      auto message = link.events->Receive();
      if (!message || !*message) return;
      wire::Published published;
      const auto bytes = (**message)[0];
      if ((*message)->size() != 1 ||
          !published.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        NoteMalformed("malformed publication of " + std::to_string(bytes.size()) + " bytes from " +
                      profile.events_endpoint);
        continue;  // shows as a gap
      }
      TakePublished(published);
    }
  }

  void TakePublished(const wire::Published& published) {
    // The first publication of a link may follow others from before the subscription.
    const bool gap = !last_published || published.sequence() != *last_published + 1;
    last_published = published.sequence();
    if (gap && state == LinkState::kConnected) {
      AskSnapshot();
      AskEvents();  // before TakeEvent below, which then holds the event back
    }
    if (published.has_change()) {
      TakeChange(published);
    } else if (published.has_event()) {
      auto event = Decode(published.event());
      if (!event) return NoteMalformed("malformed event: " + event.error().ToString());
      TakeEvent(*event);
    } else if (published.has_sample()) {
      auto sample = Decode(published.sample());
      if (!sample) return NoteMalformed("malformed sample: " + sample.error().ToString());
      if (handlers.sample) handlers.sample(*sample);
    } else if (published.has_goodbye()) {
      TakeGoodbye({published.goodbye().time(), published.goodbye().by()});
    }
  }

  void TakeGoodbye(const ClusterEnd& end) {
    if (!std::isfinite(end.time) || end.time <= 0) return NoteMalformed("malformed goodbye");
    if (handlers.stopped) handlers.stopped(end);
    FailLink(LinkState::kStopped, "the cluster at " + profile.registrar_endpoint + " was stopped" +
                                      (end.by.empty() ? "" : " by " + end.by));
  }

  void NoteMalformed(std::string what) {
    note = std::move(what);
    ++malformed;
    if (handlers.malformed) handlers.malformed(malformed, note);
  }

  /// Changes that overtake the whole state are held until it is there.
  void TakeChange(const wire::Published& published) {
    auto change = Decode(published.change());
    if (!change) {
      NoteMalformed("malformed change of the state: " + change.error().ToString());
      return AskSnapshot();
    }
    if (!cluster || wants_snapshot) {
      if (held_changes.size() >= kMostHeldChanges) {
        held_changes.clear();
        ask_snapshot_again = asked_snapshot;  // what is on its way may be older than those
      }
      held_changes.emplace(published.sequence(), std::move(*change));
      return;
    }
    if (Advance(published.sequence(), *change)) HandOut();
  }

  /// \return whether the change was made; one that the state has already is ignored
  bool Advance(std::uint64_t sequence, const engine::SnapshotChange& change) {
    if (static_cast<std::int64_t>(sequence) <= cluster->sequence) return false;
    // The only copy per change: the state that was handed out must not change.
    if (std::exchange(cluster_is_shared, false))
      cluster = std::make_shared<engine::ClusterSnapshot>(*cluster);
    if (const Status applied = engine::Apply(change, *cluster); !applied) {
      note = applied.error().ToString();
      cluster.reset();
      AskSnapshot();
      return false;
    }
    cluster->sequence = static_cast<std::int64_t>(sequence);
    return true;
  }

  void TakeSnapshot(engine::ClusterSnapshot whole) {
    cluster = std::make_shared<engine::ClusterSnapshot>(std::move(whole));
    cluster_is_shared = false;
    for (const auto& [sequence, change] : std::exchange(held_changes, {})) {
      if (cluster) static_cast<void>(Advance(sequence, change));
    }
    HandOut();
  }

  void HandOut() {
    if (!cluster || !handlers.snapshot) return;
    cluster_is_shared = true;
    handlers.snapshot(cluster);
  }

  void AskSnapshot() {
    wants_snapshot = true;
    if (asked_snapshot) {
      ask_snapshot_again = true;
      return;
    }
    asked_snapshot = true;
    wire::Request request;
    request.mutable_status();
    CallInternal(std::move(request), [this](Result<wire::Reply> reply) {
      asked_snapshot = false;
      auto whole = reply ? Decode(reply->status()) : Result<engine::ClusterSnapshot>(reply.error());
      if (whole) {
        wants_snapshot = ask_snapshot_again;
        TakeSnapshot(std::move(*whole));
      } else {
        note = "no state of the cluster: " + whole.error().ToString();
        ask_snapshot_timer = loop.After(kAskAgain, [this] {
          if (link.commands && wants_snapshot && !asked_snapshot) AskSnapshot();
        });
      }
      if (std::exchange(ask_snapshot_again, false) && link.commands) AskSnapshot();
    });
  }

  /// While older events are being requested, newer ones are held, so that all arrive in order.
  void TakeEvent(const engine::Event& event) {
    if (event.sequence <= last_event) return;
    held_events.emplace(event.sequence, event);
    const bool waiting = asked_events || state != LinkState::kConnected;
    if (!waiting) FlushHeldEvents();
  }

  void FlushHeldEvents() {
    const auto events = std::exchange(held_events, {});
    for (const auto& [sequence, event] : events) {
      if (sequence <= last_event) continue;
      last_event = sequence;
      if (handlers.event) handlers.event(event);
    }
  }

  void AskEvents() {
    if (asked_events) {
      ask_events_again = true;
      return;
    }
    asked_events = true;
    wire::Request request;
    request.mutable_events()->set_after_sequence(last_event);
    request.mutable_events()->set_limit(last_event == 0 ? kFirstEvents : kMissedEvents);
    CallInternal(std::move(request), [this](Result<wire::Reply> reply) {
      asked_events = false;
      if (reply) {
        for (const wire::EventInfo& info : reply->events().events()) {
          if (auto event = Decode(info)) held_events.emplace(event->sequence, std::move(*event));
        }
      }
      FlushHeldEvents();
      if (std::exchange(ask_events_again, false) && link.commands) AskEvents();
    });
  }

  // ---- life ----

  Status Start() {
    TESSERA_RETURN_IF_ERROR(OpenLinkOnLoop());  // the loop does not run yet
    loop.Post([this] {
      SetState(LinkState::kConnecting, "connecting to " + profile.registrar_endpoint);
    });
    thread = std::jthread([this] {
      loop.Run();
      CloseLink();
    });
    return OkStatus();
  }

  void Close() {
    TESSERA_CHECK(!loop.InLoop());
    loop.Post([this] {
      closing = true;
      FailAllCalls(ClosedError());
      loop.Stop();
    });
    thread.join();
  }
};

ClusterClient::ClusterClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

namespace {
Result<CurveKeys> KeysOf(const Profile& profile) {
  return LoadKeys(profile.key_file).Context("profile " + profile.name);
}
}  // namespace

Result<std::unique_ptr<ClusterClient>> ClusterClient::Open(const Profile& profile,
                                                           Handlers handlers) {
  TESSERA_TRY(CurveKeys keys, KeysOf(profile));
  auto impl = std::make_unique<Impl>(profile, std::move(keys), std::move(handlers), true);
  TESSERA_RETURN_IF_ERROR(impl->Start());
  return std::unique_ptr<ClusterClient>(new ClusterClient(std::move(impl)));
}

Result<std::unique_ptr<ClusterClient>> ClusterClient::OpenForCommands(
    const Profile& profile, milliseconds listen_patience) {
  TESSERA_TRY(CurveKeys keys, KeysOf(profile));
  auto impl = std::make_unique<Impl>(profile, std::move(keys), Handlers{}, false, listen_patience);
  TESSERA_RETURN_IF_ERROR(impl->Start());
  return std::unique_ptr<ClusterClient>(new ClusterClient(std::move(impl)));
}

ClusterClient::~ClusterClient() { impl_->Close(); }

void ClusterClient::Call(wire::Request request, std::chrono::milliseconds timeout,
                         std::function<void(Result<wire::Reply>)> done, CallTracePtr trace) {
  if (impl_->closing) return done(impl_->ClosedError());
  impl_->loop.Post([impl = impl_.get(), request = std::move(request), timeout,
                    done = std::move(done), trace = std::move(trace)]() mutable {
    impl->CallOnLoop(std::move(request), timeout, std::move(done), std::move(trace));
  });
}

Result<wire::Reply> ClusterClient::CallAndWait(wire::Request request,
                                               std::chrono::milliseconds timeout,
                                               CallTracePtr trace) {
  if (impl_->loop.InLoop()) {
    return FailedPrecondition("waiting for a reply on the client's own thread");
  }
  auto promise = std::make_shared<std::promise<Result<wire::Reply>>>();
  auto future = promise->get_future();
  Call(
      std::move(request), timeout,
      [promise](Result<wire::Reply> reply) { promise->set_value(std::move(reply)); },
      std::move(trace));
  return future.get();
}

}  // namespace tessera::agents
