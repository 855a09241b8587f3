// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/experiment/private_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <span>
#include <thread>
#include <utility>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/checkpoint/safetensors/header.h"
#include "engine/files/whole_file.h"

namespace tessera::app {
namespace {

constexpr std::chrono::milliseconds kSlice{50};
constexpr std::int64_t kSamplesPerPage = 10'000;

Error cancelled() { return Cancelled("the experiment was stopped"); }

}  // namespace

Result<PrivateCluster> PrivateCluster::start(const PrivateHome& home, int nodes, int devices,
                                             std::stop_token stop) {
  TESSERA_TRY(auto profile, startLocalCluster(home.cluster(nodes, devices)));
  if (stop.stop_requested()) return cancelled();
  TESSERA_TRY(auto client, agents::ClusterClient::OpenForCommands(profile));
  TESSERA_TRY(auto states, agents::OpenClusterState(profile));
  return PrivateCluster(Session{std::move(profile), std::move(client)}, std::move(states),
                        std::move(stop));
}

Result<wire::Reply> PrivateCluster::ask(wire::Request request, std::chrono::milliseconds timeout) {
  // The answer may arrive after the waiting has ended.
  const auto answer = std::make_shared<std::promise<Result<wire::Reply>>>();
  auto future = answer->get_future();
  m_session.client->Call(std::move(request), timeout, [answer](Result<wire::Reply> reply) {
    answer->set_value(std::move(reply));
  });
  while (future.wait_for(kSlice) != std::future_status::ready)
    if (m_stop.stop_requested()) return cancelled();
  return future.get();
}

Status PrivateCluster::pause(std::chrono::milliseconds time) const {
  const auto end = std::chrono::steady_clock::now() + time;
  while (!m_stop.stop_requested()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= end) return OkStatus();
    std::this_thread::sleep_for(
        std::min(kSlice, std::chrono::duration_cast<std::chrono::milliseconds>(end - now) +
                             std::chrono::milliseconds(1)));
  }
  return cancelled();
}

Result<engine::JobStatus> PrivateCluster::job(const std::string& name) {
  wire::Request request;
  request.mutable_status();
  TESSERA_TRY(const auto reply, ask(std::move(request)));
  TESSERA_TRY(const auto snapshot, agents::Decode(reply.status()));
  const auto job = std::ranges::find(snapshot.jobs, name, &engine::JobStatus::name);
  if (job == snapshot.jobs.end()) return NotFound(fmt::format("job '{}' is gone", name));
  return *job;
}

Result<std::vector<engine::Sample>> PrivateCluster::samples(const std::string& job,
                                                            std::int64_t afterStep) {
  wire::Request request;
  request.mutable_samples()->set_job(job);
  request.mutable_samples()->set_after_step(afterStep);
  request.mutable_samples()->set_limit(kSamplesPerPage);
  TESSERA_TRY(const auto reply, ask(std::move(request)));
  return agents::DecodeAll<engine::Sample>(reply.samples().samples());
}

Status PrivateCluster::stopJob(const std::string& name) {
  wire::Request request;
  request.mutable_job()->set_job(name);
  request.mutable_job()->set_act(wire::JobRequest::STOP);
  TESSERA_RETURN_IF_ERROR(ask(std::move(request), kJobTimeout));
  return OkStatus();
}

Result<engine::vfs::StateViewPtr> PrivateCluster::state(const std::string& job) {
  return m_states->Pin(job);
}

Result<engine::Cursor> cursorOf(const engine::vfs::StateView& state) {
  const auto& tensors = state.info().layout.collection().tensors();
  const auto cursor = std::ranges::find(tensors, "job.cursor", &ptc::TensorSpec::name);
  if (cursor == tensors.end()) return NotFound("the job's state has no tensor job.cursor");
  std::array<std::int64_t, 3> words{};
  const auto whole = ptc::Box::Whole(cursor->shape);
  TESSERA_RETURN_IF_ERROR(state.Read(static_cast<int>(cursor - tensors.begin()), *whole,
                                     std::as_writable_bytes(std::span(words))));
  return engine::Cursor::FromArray(words);
}

Status writeParameters(const engine::vfs::StateView& state, const std::string& path) {
  const auto& tensors = state.info().layout.collection().tensors();
  checkpoint::Header header;
  for (const ptc::TensorSpec& tensor : tensors)
    if (tensor.role == ptc::TensorRole::kParam)
      header.tensors.push_back({.name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape});
  TESSERA_RETURN_IF_ERROR(checkpoint::AssignOffsets(header.tensors));
  TESSERA_TRY(std::string bytes, checkpoint::PrintHeader(header));
  const std::size_t begin = bytes.size();
  bytes.resize(begin +
               (header.tensors.empty() ? 0 : static_cast<std::size_t>(header.tensors.back().end)));
  for (const checkpoint::FileTensor& tensor : header.tensors) {
    const auto spec = std::ranges::find(tensors, tensor.name, &ptc::TensorSpec::name);
    const auto whole = ptc::Box::Whole(tensor.shape);
    TESSERA_RETURN_IF_ERROR(
        state.Read(static_cast<int>(spec - tensors.begin()), *whole,
                   std::as_writable_bytes(std::span(bytes))
                       .subspan(begin + static_cast<std::size_t>(tensor.begin),
                                static_cast<std::size_t>(tensor.end - tensor.begin))));
  }
  return engine::WriteWholeFile(path, bytes, 0600);
}

}  // namespace tessera::app
