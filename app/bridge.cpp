// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/bridge.h"

#include <QDeadlineTimer>
#include <QEventLoop>
#include <QTimer>
#include <tuple>
#include <utility>

#include "agents/client/cluster_view.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/clock_skew.h"
#include "app/commands/command.h"
#include "app/commands/when.h"
#include "app/requests.h"

namespace tessera::app {
namespace {

constexpr std::int64_t kHistoryRows = 500;
constexpr std::int64_t kSamplesPage = 4096;
constexpr std::int64_t kCandidates = 32;
constexpr std::chrono::milliseconds kLookForAnswers{5};
constexpr std::chrono::seconds kDoctorTimeout{30};  // every node examines itself

ui::LinkState toUi(agents::LinkState state) {
  switch (state) {
    case agents::LinkState::kConnecting:
      return ui::LinkState::Connecting;
    case agents::LinkState::kConnected:
      return ui::LinkState::Connected;
    case agents::LinkState::kLost:
      return ui::LinkState::Lost;
    case agents::LinkState::kRefused:
      return ui::LinkState::Refused;
    case agents::LinkState::kStopped:
      return ui::LinkState::Stopped;
  }
  return ui::LinkState::Lost;
}

wire::JobRequest::Act toWire(ui::JobAct act) {
  switch (act) {
    case ui::JobAct::Pause:
      return wire::JobRequest::PAUSE;
    case ui::JobAct::Resume:
      return wire::JobRequest::RESUME;
    case ui::JobAct::Stop:
      return wire::JobRequest::STOP;
  }
  return wire::JobRequest::PAUSE;
}

wire::OperateRequest::Act toWire(ui::OperateAct act) {
  switch (act) {
    case ui::OperateAct::Take:
      return wire::OperateRequest::TAKE;
    case ui::OperateAct::TakeOver:
      return wire::OperateRequest::TAKE_OVER;
    case ui::OperateAct::Release:
      return wire::OperateRequest::RELEASE;
  }
  return wire::OperateRequest::TAKE;
}

void fill(const ui::PlanRequest& request, wire::PlanRequest* out) {
  out->set_job(request.job.toStdString());
  for (const ptc::DeviceId device : request.devices) agents::Encode(device, out->add_devices());
  if (request.mesh) agents::Encode(*request.mesh, out->mutable_mesh());
  if (request.options) agents::Encode(*request.options, out->mutable_options());
  out->set_pin(request.pinned);
  switch (request.way) {
    case ui::MoveWay::Auto:
      break;
    case ui::MoveWay::WhileTraining:
      out->set_overlap(wire::PlanRequest::ON);
      break;
    case ui::MoveWay::InPause:
      out->set_overlap(wire::PlanRequest::OFF);
      break;
    case ui::MoveWay::InRounds:
      out->set_move_memory(-1);
      break;
  }
}

Status accept(const wire::Reply&) { return OkStatus(); }

}  // namespace

Bridge::Bridge(ui::ClusterModel& model, QObject* parent) : QObject(parent), m_model(model) {}

// The threads end before the objects that their callbacks use.
Bridge::~Bridge() {
  m_reader.request_stop();
  m_tuneStop.request_stop();
  m_reading.stop();
  m_working.stop();
  m_tuning.stop();
  m_client.reset();
  m_closing.wait();
}

Result<DescribedScript> KnownScripts::describe(const Script& script, std::stop_token stop) {
  std::error_code missing;
  const auto written = std::filesystem::last_write_time(script.path, missing);
  if (!missing && m_last && m_last->script == script && m_last->written == written)
    return m_last->described;
  TESSERA_TRY(DescribedScript described, describeScript(script, std::move(stop)));
  m_last = Known{script, written, described};
  return described;
}

Status Bridge::open(const std::string& profile) {
  m_profile = profile;
  m_opened.reset();
  letGo();
  const auto found = findProfile(profile);
  if (!found) return found.error();
  // Other profiles may appear or be chosen meanwhile: all requests are about this cluster.
  if (profile.empty()) m_profile = found->name;
  m_opened = *found;
  // A callback of a previous client does not belong to this connection.
  const auto later = [this, connection = m_connection](auto call) {
    QMetaObject::invokeMethod(
        this,
        [this, connection, call = std::move(call)] {
          if (connection == m_connection) call();
        },
        Qt::QueuedConnection);
  };
  agents::ClusterClient::Handlers handlers;
  handlers.link = [this, later](agents::LinkState state, std::string detail) {
    later([this, state, detail = std::move(detail)] { onLink(state, detail); });
  };
  handlers.incarnation = [this, later](const std::string& id) {
    later([this, id] { onIncarnation(id); });
  };
  handlers.owner = [this, later](const agents::KeyOwner& owner) {
    const bool onlyLooks = owner.role != agents::Role::kOperator;
    later([this, name = onlyLooks ? QString::fromStdString(owner.name) : QString()] {
      m_model.setViewerKey(name);
    });
  };
  handlers.stopped = [this, later](const agents::ClusterEnd& end) {
    later([this, stop = ui::ClusterStop{end.time, QString::fromStdString(end.by)}] {
      m_model.setStopped(stop);
    });
  };
  handlers.snapshot = [this, later](std::shared_ptr<const engine::ClusterSnapshot> snapshot) {
    later([this, snapshot = std::move(snapshot)] {
      if (m_mirror) {
        m_mirror->setSimulated(snapshot->simulation ? snapshot->simulation->hardware
                                                    : std::string());
      }
      m_model.setSnapshot(snapshot);
    });
  };
  handlers.event = [this, later](const engine::Event& event) {
    later([this, event] { onEvent(event); });
  };
  handlers.sample = [this, later](const engine::Sample& sample) {
    later([this, sample] {
      m_model.addSample(sample);
      if (m_mirror) m_mirror->touch();
    });
  };
  handlers.malformed = [this, later](std::int64_t count, const std::string&) {
    later([this, count] { m_model.setMalformed(count); });
  };
  m_model.setLink(ui::LinkState::Connecting, QString::fromStdString(found->registrar_endpoint));
  auto client = agents::ClusterClient::Open(*found, std::move(handlers));
  if (!client) {
    m_model.setLink(ui::LinkState::Refused, QString::fromStdString(client.error().ToString()));
    return client.error();
  }
  m_client = std::move(*client);
  mirrorHistory(found->name);
  showProblem();
  return OkStatus();
}

void Bridge::mirrorHistory(const std::string& cluster) {
  if (!m_mirrorIsOn || (m_mirror && m_mirror->cluster() == cluster)) return;
  m_mirror = std::make_unique<HistoryMirror>(
      cluster, [this](wire::Request request, HistoryMirror::Answer answer) {
        if (m_client)
          m_client->Call(std::move(request), kAnswerTimeout, std::move(answer));
        else
          answer(Cancelled("no cluster is connected"));
      });
  m_mirror->setRetention(m_retention);
  connect(m_mirror.get(), &HistoryMirror::problemChanged, this, &Bridge::showProblem);
  connect(m_mirror.get(), &HistoryMirror::noted, this, [this](const QString& text) {
    m_model.addEvent({0, wallClock(), engine::Severity::kWarning, "panel", text.toStdString()});
  });
}

void Bridge::showProblem() {
  const bool isShown = m_client && m_mirror;
  m_model.setRecordProblem(isShown ? m_mirror->problem() : QString());
}

void Bridge::close() {
  letGo();
  m_opened.reset();
  m_lastEvent = 0;
  m_incarnation.clear();
}

void Bridge::setMirror(bool on, const engine::Retention& retention) {
  m_mirrorIsOn = on;
  m_retention = retention;
  if (!on) {
    m_mirror.reset();
    showProblem();
  } else if (m_mirror) {
    m_mirror->setRetention(retention);
  } else if (m_client) {
    if (m_opened) {
      mirrorHistory(m_opened->name);
      m_mirror->setConnected(m_model.link() == ui::LinkState::Connected);
    }
  }
}

void Bridge::letGo() {
  ++m_connection;
  m_reader.request_stop();
  if (m_mirror) m_mirror->setConnected(false);
  m_closing.close(std::move(m_client));
}

void Bridge::reconnect() {
  if (const auto status = open(m_profile); !status)
    m_model.setLink(ui::LinkState::Lost, QString::fromStdString(status.error().ToString()));
}

void Bridge::onLink(agents::LinkState state, const std::string& detail) {
  m_model.setLink(toUi(state), QString::fromStdString(detail));
  if (m_mirror) m_mirror->setConnected(state == agents::LinkState::kConnected);
  const bool isGone = state == agents::LinkState::kLost || state == agents::LinkState::kRefused;
  if (isGone) followProfile();
}

void Bridge::followProfile() {
  const auto now = findProfile(m_profile);
  if (!now || !m_opened) return;
  const auto placeOf = [](const agents::Profile& profile) {
    return std::tie(profile.registrar_endpoint, profile.events_endpoint, profile.server_key);
  };
  if (placeOf(*now) != placeOf(*m_opened)) reconnect();
}

void Bridge::onIncarnation(const std::string& incarnation) {
  const std::string before = std::exchange(m_incarnation, incarnation);
  if (before.empty() || before == incarnation) return;
  m_lastEvent = 0;
  m_model.startAnew();
}

// A client that connects again sends the newest ones again.
void Bridge::onEvent(const engine::Event& event) {
  const bool isKept = event.sequence > 0;  // 0: the registrar could not record it
  if (isKept && event.sequence <= m_lastEvent) return;
  m_lastEvent = std::max(m_lastEvent, event.sequence);
  m_model.addEvent(event);
  if (m_mirror) m_mirror->touch();
}

template <typename T>
void Bridge::call(wire::Request request, std::chrono::milliseconds timeout, Done<T> done,
                  Reader<T> read) {
  if (!m_client) {
    QMetaObject::invokeMethod(
        this, [done = std::move(done)] { done(Unavailable("no cluster is connected")); },
        Qt::QueuedConnection);
    return;
  }
  ++m_unanswered;
  m_client->Call(std::move(request), timeout,
                 [this, done = std::move(done), read = std::move(read)](Result<wire::Reply> reply) {
                   Result<T> result = reply ? read(*reply) : Result<T>(reply.error());
                   QMetaObject::invokeMethod(
                       this,
                       [this, done, result = std::move(result)]() mutable {
                         --m_unanswered;
                         done(std::move(result));
                       },
                       Qt::QueuedConnection);
                 });
}

void Bridge::waitForAnswers(std::chrono::milliseconds most) {
  const QDeadlineTimer end(most);
  QEventLoop loop;
  QTimer look;
  connect(&look, &QTimer::timeout, &loop, [&] {
    if (m_unanswered == 0 || end.hasExpired()) loop.quit();
  });
  look.start(kLookForAnswers);
  if (m_unanswered > 0) loop.exec();
}

void Bridge::plan(const ui::PlanRequest& request, Done<engine::PlanSummary> done) {
  wire::Request message;
  fill(request, message.mutable_plan());
  call<engine::PlanSummary>(std::move(message), kAnswerTimeout, std::move(done),
                            [](const wire::Reply& reply) { return agents::Decode(reply.plan()); });
}

void Bridge::apply(const ui::PlanRequest& request, const QString& planHash,
                   ui::Unrecorded unrecorded, Done<std::int64_t> done) {
  wire::Request message;
  fill(request, message.mutable_apply()->mutable_plan());
  message.mutable_apply()->set_plan_hash(planHash.toStdString());
  message.mutable_apply()->set_unrecorded(unrecorded == ui::Unrecorded::Allow);
  call<std::int64_t>(
      std::move(message), kAnswerTimeout, std::move(done),
      [](const wire::Reply& reply) { return std::int64_t{reply.apply().transaction()}; });
}

void Bridge::cancel(std::int64_t txn, Done<void> done) {
  wire::Request message;
  message.mutable_cancel()->set_transaction(txn);
  call<void>(std::move(message), kAnswerTimeout, std::move(done), accept);
}

void Bridge::history(Done<std::vector<engine::HistoryEntry>> done) {
  wire::Request message;
  message.mutable_history()->set_limit(kHistoryRows);
  call<std::vector<engine::HistoryEntry>>(
      std::move(message), kAnswerTimeout, std::move(done), [](const wire::Reply& reply) {
        return agents::DecodeAll<engine::HistoryEntry>(reply.history().entries());
      });
}

void Bridge::readStart(const ui::StartRequest& request,
                       std::function<void(Result<wire::StartJobRequest>)> then) {
  std::vector<std::string> words;
  for (const QString& word : ui::startWords(request)) words.push_back(word.toStdString());
  m_reader.request_stop();
  m_reader = std::stop_source();
  m_reading.post([this, words = std::move(words), then = std::move(then),
                  stop = m_reader.get_token()]() mutable {
    const auto read = [&]() -> Result<wire::StartJobRequest> {
      TESSERA_TRY(const Arguments arguments, parseArguments(jobStartCommand().syntax, words));
      return readStartRequest(
          arguments,
          [this](const Script& script, std::stop_token end) {
            return m_scripts.describe(script, std::move(end));
          },
          stop);
    };
    QMetaObject::invokeMethod(
        this, [then = std::move(then), start = read()]() mutable { then(std::move(start)); },
        Qt::QueuedConnection);
  });
}

void Bridge::startJob(const ui::StartRequest& request, Done<void> done) {
  constexpr std::chrono::hours kAsLongAsItTakes{24 * 14};  // the registrar ends a start that stalls
  readStart(request, [=, this, connection = m_connection](Result<wire::StartJobRequest> start) {
    // The user chose to start it on the cluster that was shown then.
    if (connection != m_connection) return done(Cancelled("the panel has left that cluster"));
    if (!start) return done(start.error());
    wire::Request message;
    *message.mutable_start_job() = std::move(*start);
    call<void>(std::move(message), kAsLongAsItTakes, done, accept);
  });
}

void Bridge::proposeStart(const ui::StartRequest& request, Done<engine::Proposal> done) {
  readStart(request, [=, this, connection = m_connection](Result<wire::StartJobRequest> start) {
    if (connection != m_connection) return done(Cancelled("the panel has left that cluster"));
    if (!start) return done(start.error());
    wire::Request message;
    *message.mutable_propose_start()->mutable_start() = std::move(*start);
    message.mutable_propose_start()->set_limit(kCandidates);
    call<engine::Proposal>(std::move(message), kAnswerTimeout, done, [](const wire::Reply& reply) {
      return agents::Decode(reply.propose_start());
    });
  });
}

void Bridge::jobAct(const QString& job, ui::JobAct act, Done<void> done) {
  wire::Request message;
  message.mutable_job()->set_job(job.toStdString());
  message.mutable_job()->set_act(toWire(act));
  call<void>(std::move(message), kJobTimeout, std::move(done), accept);
}

void Bridge::operate(const QString& panel, ui::OperateAct act, Done<ui::OperateAnswer> done) {
  wire::Request message;
  message.mutable_operate()->set_panel(panel.toStdString());
  message.mutable_operate()->set_act(toWire(act));
  call<ui::OperateAnswer>(std::move(message), kAnswerTimeout, std::move(done),
                          [](const wire::Reply& reply) -> Result<ui::OperateAnswer> {
                            ui::OperateAnswer answer{.granted = reply.operate().granted()};
                            if (reply.operate().has_lease()) {
                              TESSERA_TRY(answer.lease, agents::Decode(reply.operate().lease()));
                            }
                            return answer;
                          });
}

void Bridge::decide(const QString& job, const ui::LossDecision& decision, Done<void> done) {
  wire::Request message;
  message.mutable_decision()->set_job(job.toStdString());
  message.mutable_decision()->set_choice(static_cast<std::uint32_t>(decision.choice));
  if (decision.source)
    message.mutable_decision()->set_source(static_cast<std::uint32_t>(*decision.source));
  call<void>(std::move(message), kAnswerTimeout, std::move(done), accept);
}

void Bridge::setOnFailure(const QString& job, engine::OnFailure onFailure, Done<void> done) {
  wire::Request message;
  message.mutable_decision()->set_job(job.toStdString());
  message.mutable_decision()->set_on_failure(static_cast<std::uint32_t>(onFailure));
  call<void>(std::move(message), kAnswerTimeout, std::move(done), accept);
}

void Bridge::setSnapshots(const QString& job, engine::SnapshotEvery every, Done<void> done) {
  wire::Request message;
  message.mutable_decision()->set_job(job.toStdString());
  agents::Encode(every, message.mutable_decision()->mutable_snapshots());
  call<void>(std::move(message), kAnswerTimeout, std::move(done), accept);
}

void Bridge::saveCheckpoint(const QString& job, const QString& folder, Done<void> done) {
  constexpr std::chrono::hours kAsLongAsItTakes{24};  // the registrar ends a saving that stalls
  wire::Request message;
  message.mutable_save_checkpoint()->set_job(job.toStdString());
  message.mutable_save_checkpoint()->set_folder(folder.toStdString());
  call<void>(std::move(message), kAsLongAsItTakes, std::move(done), accept);
}

void Bridge::samples(const QString& job, std::int64_t afterStep,
                     Done<std::vector<engine::Sample>> done) {
  wire::Request message;
  message.mutable_samples()->set_job(job.toStdString());
  message.mutable_samples()->set_after_step(afterStep);
  message.mutable_samples()->set_limit(kSamplesPage);
  call<std::vector<engine::Sample>>(
      std::move(message), kAnswerTimeout, std::move(done), [](const wire::Reply& reply) {
        return agents::DecodeAll<engine::Sample>(reply.samples().samples());
      });
}

void Bridge::propose(const QString& job, const std::vector<ptc::DeviceId>& devices,
                     Done<engine::Proposal> done) {
  wire::Request message;
  message.mutable_propose()->set_job(job.toStdString());
  for (const ptc::DeviceId device : devices) {
    agents::Encode(device, message.mutable_propose()->add_devices());
  }
  message.mutable_propose()->set_limit(kCandidates);
  call<engine::Proposal>(std::move(message), kAnswerTimeout, std::move(done),
                         [](const wire::Reply& reply) { return agents::Decode(reply.propose()); });
}

void Bridge::doctor(Done<std::vector<engine::Check>> done) {
  wire::Request message;
  message.mutable_doctor();
  call<std::vector<engine::Check>>(
      std::move(message), kDoctorTimeout, std::move(done),
      [asked = std::chrono::steady_clock::now()](const wire::Reply& reply) {
        const double now = wallClock();
        const std::chrono::duration<double> latency = std::chrono::steady_clock::now() - asked;
        auto checks = agents::Decode(reply.doctor());
        if (checks)
          for (engine::Check& check : *checks) readClock(check, now, latency.count());
        return checks;
      });
}

void Bridge::states(Done<engine::vfs::Jobs> done) {
  wire::Request message;
  message.mutable_jobs();
  call<engine::vfs::Jobs>(std::move(message), kAnswerTimeout, std::move(done),
                          [](const wire::Reply& reply) -> Result<engine::vfs::Jobs> {
                            engine::vfs::Jobs jobs;
                            for (const wire::JobStateInfo& info : reply.jobs().jobs()) {
                              TESSERA_TRY(auto job, agents::DecodeJobState(info));
                              jobs[info.name()] = engine::vfs::MakeFacts(std::move(job), nullptr);
                            }
                            return jobs;
                          });
}

void Bridge::send(const ui::Request& request, std::function<void(const ui::Answer&)> progress,
                  Done<ui::Answer> done) {
  auto message =
      m_opened && m_client ? messageOf(request, *m_opened) : Unavailable("no cluster is connected");
  if (!message) {
    QMetaObject::invokeMethod(
        this, [done = std::move(done), error = message.error()] { done(error); },
        Qt::QueuedConnection);
    return;
  }
  if (*message) {
    call<ui::Answer>(std::move((*message)->message), (*message)->timeout, std::move(done),
                     std::move((*message)->read));
    return;
  }
  ++m_unanswered;
  const auto later = [this](auto then) {
    QMetaObject::invokeMethod(this, std::move(then), Qt::QueuedConnection);
  };
  TaskThread& thread = takesLong(request) ? m_tuning : m_working;
  thread.post([later, request, profile = *m_opened, stop = m_tuneStop.get_token(),
               progress = std::move(progress), done = std::move(done), this]() mutable {
    auto answer = carryOut(request, profile, stop, [&](const ui::Answer& part) {
      if (progress) later([progress, part] { progress(part); });
    });
    later([this, done = std::move(done), answer = std::move(answer)]() mutable {
      --m_unanswered;
      done(std::move(answer));
    });
  });
}

void Bridge::stopRequests() {
  m_tuneStop.request_stop();
  m_tuneStop = std::stop_source();
}

void Bridge::killNode(std::int32_t node, Done<void> done) {
  wire::Request message;
  message.mutable_kill_node()->set_node(node);
  call<void>(std::move(message), kAnswerTimeout, std::move(done), accept);
}

}  // namespace tessera::app
