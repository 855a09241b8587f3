// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/vfs/fake_source.h"

#include <cstring>
#include <functional>
#include <utility>

namespace tessera::test {

using engine::vfs::JobInfo;
using engine::vfs::StateViewPtr;

std::uint64_t ElementBits(int tensor, std::int64_t index, std::int64_t step) {
  constexpr std::uint64_t kA = 0x9e3779b97f4a7c15, kB = 0xd1342543de82ef95, kC = 0xff51afd7ed558ccd,
                          kD = 0xc4ceb9fe1a85ec53;
  std::uint64_t x = static_cast<std::uint64_t>(index) * kA + static_cast<std::uint64_t>(step) * kB +
                    static_cast<std::uint64_t>(tensor + 1) * kC;
  x ^= x >> 32U;
  return (x * kD) >> 8U;
}

class FakeSource::View final : public engine::vfs::StateView {
 public:
  View(JobInfo info, std::shared_ptr<Shared> shared)
      : info_(std::move(info)),
        shared_(std::move(shared)),
        tensors_(info_.layout.collection().tensors().size()) {
    const std::lock_guard lock(shared_->mutex);
    ++shared_->views;
  }
  ~View() override {
    const std::lock_guard lock(shared_->mutex);
    --shared_->views;
  }
  const JobInfo& info() const override { return info_; }

  Status Read(int tensor, const ptc::Box& box, std::span<std::byte> out) const override {
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->reads.push_back({tensor, box});
      if (shared_->read_error) return *shared_->read_error;
    }
    const Tensor& from = Filled(tensor);
    const auto& spec = info_.layout.collection().tensors()[static_cast<std::size_t>(tensor)];
    const std::int64_t element = ptc::SizeBytes(spec.dtype);
    if (std::ssize(out) != box.num_elements() * element)
      return Internal("a room of the wrong size");
    std::byte* to = out.data();
    CopyRows(spec.shape, box, 0, 0, element, from.bytes.data(), to);
    return OkStatus();
  }
  std::span<const std::byte> Direct(int tensor, const ptc::Box& box) const override {
    {
      const std::lock_guard lock(shared_->mutex);
      if (!shared_->direct) return {};
    }
    const auto& spec = info_.layout.collection().tensors()[static_cast<std::size_t>(tensor)];
    const auto offset = ptc::ContiguousOffset(*ptc::Box::Whole(spec.shape), box);
    if (!offset) return {};
    const std::int64_t element = ptc::SizeBytes(spec.dtype);
    return std::span(Filled(tensor).bytes)
        .subspan(static_cast<std::size_t>(*offset * element),
                 static_cast<std::size_t>(box.num_elements() * element));
  }

 private:
  struct Tensor {
    std::once_flag once;
    std::vector<std::byte> bytes;
  };

  Tensor& Filled(int tensor) const {
    Tensor& filled = tensors_[static_cast<std::size_t>(tensor)];
    std::call_once(filled.once, [&] {
      const auto& spec = info_.layout.collection().tensors()[static_cast<std::size_t>(tensor)];
      const std::int64_t count = *ptc::NumElements(spec.shape);
      const auto size = static_cast<std::size_t>(ptc::SizeBytes(spec.dtype));
      filled.bytes.resize(static_cast<std::size_t>(count) * size);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::uint64_t bits = ElementBits(tensor, i, info_.step);
        std::memcpy(filled.bytes.data() + static_cast<std::size_t>(i) * size, &bits, size);
      }
    });
    return filled;
  }

  static void CopyRows(const ptc::Shape& shape, const ptc::Box& box, int dim, std::int64_t row,
                       std::int64_t element, const std::byte* from, std::byte*& to) {
    if (dim == box.rank()) {
      std::memcpy(to, from + row * element, static_cast<std::size_t>(element));
      to += element;
      return;
    }
    if (dim + 1 == box.rank()) {
      const std::int64_t bytes = box[dim].size() * element;
      std::memcpy(to,
                  from + (row * shape[static_cast<std::size_t>(dim)] + box[dim].begin) * element,
                  static_cast<std::size_t>(bytes));
      to += bytes;
      return;
    }
    for (std::int64_t i = box[dim].begin; i < box[dim].end; ++i) {
      CopyRows(shape, box, dim + 1, row * shape[static_cast<std::size_t>(dim)] + i, element, from,
               to);
    }
  }

  const JobInfo info_;
  const std::shared_ptr<Shared> shared_;
  mutable std::vector<Tensor> tensors_;
};

void FakeSource::Put(JobInfo job) {
  const std::lock_guard lock(mutex_);
  const std::string name = job.name;
  jobs_.insert_or_assign(name, std::move(job));
}
void FakeSource::Remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  jobs_.erase(name);
}
void FakeSource::Step(const std::string& name, std::int64_t by) {
  const std::lock_guard lock(mutex_);
  jobs_.at(name).step += by;
}
void FakeSource::Reconfigure(const std::string& name, ptc::Layout layout) {
  const std::lock_guard lock(mutex_);
  jobs_.at(name).layout = std::move(layout);
  ++jobs_.at(name).epoch;
}
void FakeSource::SetDirect(bool direct) {
  const std::lock_guard lock(shared_->mutex);
  shared_->direct = direct;
}
void FakeSource::FailJobs(std::optional<Error> error) {
  const std::lock_guard lock(mutex_);
  jobs_error_ = std::move(error);
}
void FakeSource::FailPins(std::optional<Error> error) {
  const std::lock_guard lock(mutex_);
  pin_error_ = std::move(error);
}
void FakeSource::FailReads(std::optional<Error> error) {
  const std::lock_guard lock(shared_->mutex);
  shared_->read_error = std::move(error);
}
void FakeSource::BeforeNextPin(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  before_pin_ = std::move(action);
}
int FakeSource::num_jobs_calls() const {
  const std::lock_guard lock(mutex_);
  return jobs_calls_;
}
int FakeSource::num_pins() const {
  const std::lock_guard lock(mutex_);
  return pins_;
}
int FakeSource::num_views() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->views;
}
std::vector<SeenRead> FakeSource::TakeReads() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->reads, {});
}

Result<std::vector<JobInfo>> FakeSource::Jobs() {
  const std::lock_guard lock(mutex_);
  ++jobs_calls_;
  if (jobs_error_) return *jobs_error_;
  std::vector<JobInfo> all;
  for (const auto& [name, job] : jobs_) all.push_back(job);
  return all;
}

Result<StateViewPtr> FakeSource::Pin(const std::string& job) {
  std::function<void()> before;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(before_pin_, nullptr);
  }
  if (before) before();
  const std::lock_guard lock(mutex_);
  ++pins_;
  if (pin_error_) return *pin_error_;
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return NotFound("no job '" + job + "'");
  if (auto held = held_[job].lock()) return StateViewPtr(held);
  auto view = std::make_shared<const View>(found->second, shared_);
  held_[job] = view;
  return StateViewPtr(view);
}

JobInfo AnyJobInfo(std::string name, ptc::Layout layout) {
  return {
      .name = std::move(name), .epoch = 1, .timeline = 0, .step = 10, .layout = std::move(layout)};
}

ptc::Layout MatrixLayout(const std::string& mesh, std::int64_t rows, std::int64_t columns) {
  ptc::TensorSpec w{.name = "w", .dtype = ptc::DType::kF32, .shape = {rows, columns}};
  w.rule.dims = {{.axes = {ptc::Axis::kTp}}, {}};
  ptc::TensorSpec moment = w;
  moment.name = "w.exp_avg";
  moment.role = ptc::TensorRole::kExpAvg;
  ptc::TensorSpec small{.name = "b", .dtype = ptc::DType::kBF16, .shape = {13}};
  small.rule.dims.resize(1);
  const ptc::TensorSpec scalar{.name = "job.count",
                               .dtype = ptc::DType::kI64,
                               .shape = {},
                               .role = ptc::TensorRole::kScalar};
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh),
                            *ptc::Collection::Make({w, moment, small, scalar}, 1));
}

}  // namespace tessera::test
