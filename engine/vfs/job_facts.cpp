// SPDX-License-Identifier: Apache-2.0
#include "engine/vfs/job_facts.h"

#include <utility>
#include <vector>

namespace tessera::engine::vfs {
namespace {

bool CanBeFolder(const std::string& name) {
  return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
         name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

std::shared_ptr<Jobs> ToFacts(std::vector<JobInfo> infos, const Jobs& before) {
  auto jobs = std::make_shared<Jobs>();
  for (JobInfo& info : infos) {
    if (!CanBeFolder(info.name)) continue;
    const auto old = before.find(info.name);
    const std::string name = info.name;
    (*jobs)[name] = MakeFacts(std::move(info), old == before.end() ? nullptr : old->second);
  }
  return jobs;
}

}  // namespace

JobFactsPtr MakeFacts(JobInfo info, const JobFactsPtr& before) {
  if (before && before->info.layout == info.layout) {
    return std::make_shared<JobFacts>(
        JobFacts{std::move(info), before->layout_hash, before->layout_json});
  }
  const std::uint64_t hash = info.layout.hash();
  auto json = std::make_shared<TextContent>(ToJson(info.layout) + "\n");
  return std::make_shared<JobFacts>(JobFacts{std::move(info), hash, std::move(json)});
}

Result<JobsPtr> JobsCache::Get(Time now) {
  std::unique_lock lock(mutex_);
  const bool fresh = last_ && now - asked_ < keep_;
  if (fresh || (asking_ && last_)) return *last_;
  if (asking_) {
    answered_.wait(lock, [&] { return last_.has_value(); });
    return *last_;
  }
  asking_ = true;
  newer_.clear();
  const JobsPtr before = known_;
  lock.unlock();
  auto infos = source_.Jobs();
  const auto jobs = infos ? ToFacts(std::move(*infos), *before) : nullptr;
  lock.lock();
  asking_ = false;
  asked_ = now;
  if (jobs) {
    for (const auto& [name, facts] : newer_) {
      if (jobs->contains(name)) (*jobs)[name] = facts;
    }
    known_ = jobs;
    last_ = known_;
  } else {
    last_ = infos.error();
  }
  answered_.notify_all();
  return *last_;
}

void JobsCache::Update(const JobFactsPtr& facts) {
  const std::string& name = facts->info.name;
  const std::lock_guard lock(mutex_);
  if (asking_) newer_[name] = facts;
  if (!known_->contains(name)) return;
  auto jobs = std::make_shared<Jobs>(*known_);
  (*jobs)[name] = facts;
  known_ = std::move(jobs);
  if (last_ && *last_) last_ = known_;
}

}  // namespace tessera::engine::vfs
