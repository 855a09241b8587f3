// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Which devices hold which bytes of a file, or of one tensor in it: what the strip draws and the
/// table lists. Offsets are bytes of the file.

#include <QString>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "engine/vfs/job_facts.h"
#include "ui/models/byte_placement.h"
#include "ui/models/file_tree_model.h"

namespace tessera::ui {

class PlacedBytes {
 public:
  using Holders = std::shared_ptr<const std::vector<ptc::DeviceId>>;
  /// A row of the table: bytes [begin, end). Nobody holds what is made as it is read.
  struct Run {
    std::int64_t begin = 0, end = 0;
    QString what = {};     // the tensor, in a file
    Holders holders = {};  // never null
  };
  /// A part, 0 to 1, of what a column of the strip stands for.
  struct Share {
    Holders holders;
    double part = 1;
  };
  using Column = std::vector<Share>;

  virtual ~PlacedBytes() = default;
  virtual std::int64_t begin() const = 0;
  virtual std::int64_t end() const = 0;
  /// The bytes in `count` columns of equal width, who has how much of each.
  virtual std::vector<Column> columns(int count) const = 0;
  /// The longest run around a byte. \pre begin() <= byte && byte < end()
  virtual Run at(std::int64_t byte) const = 0;
  virtual int rowCount() const = 0;
  virtual Run row(int row) const = 0;
  /// Runs that are no rows.
  virtual std::int64_t more() const = 0;
};
using PlacedBytesPtr = std::shared_ptr<const PlacedBytes>;

class PlacedTensor final : public PlacedBytes {
 public:
  static constexpr int kMostRows = 256;

  /// \pre the plan is of a file of this job
  PlacedTensor(const engine::vfs::JobFacts& facts, const engine::vfs::FilePlan& plan,
               std::size_t entry);
  std::int64_t begin() const override { return m_begin; }
  std::int64_t end() const override { return m_begin + m_placement.size(); }
  std::vector<Column> columns(int count) const override;
  Run at(std::int64_t byte) const override;
  int rowCount() const override { return static_cast<int>(m_runs.size()); }
  Run row(int row) const override { return toRun(m_runs[static_cast<std::size_t>(row)]); }
  std::int64_t more() const override { return m_placement.numRuns() - std::ssize(m_runs); }

  std::int64_t numRuns() const { return m_placement.numRuns(); }
  /// Of the bytes [from, to) of the file, which are a column of the strip. Where runs are about as
  /// fine, of more bytes around them: neighbours would differ only by where they happen to cut.
  Column shares(std::int64_t from, std::int64_t to) const;
  /// All devices that hold a part, ascending.
  const Holders& devices() const { return m_devices; }
  /// The fewest devices that hold a byte; 0 where there are no bytes.
  std::size_t copies() const;

 private:
  Run toRun(const BytePlacement::Run& run) const;

  std::int64_t m_begin = 0;
  BytePlacement m_placement;
  QString m_name;
  std::vector<Holders> m_holders;  // by group
  Holders m_devices;
  std::vector<BytePlacement::Run> m_runs;  // the first ones
};

/// A row is the header or a tensor, made when it is asked for.
class PlacedFile final : public PlacedBytes {
 public:
  PlacedFile(engine::vfs::JobFactsPtr facts, FilePlanPtr plan);
  std::int64_t begin() const override { return 0; }
  std::int64_t end() const override { return m_plan->size(); }
  /// Of each column the tensor in its middle.
  std::vector<Column> columns(int count) const override;
  Run at(std::int64_t byte) const override;
  int rowCount() const override { return static_cast<int>(m_plan->entries().size()) + 1; }
  Run row(int row) const override;
  std::int64_t more() const override { return 0; }

 private:
  const PlacedTensor& tensor(std::size_t entry) const;
  /// The entry of a byte behind the header.
  std::size_t entryAt(std::int64_t byte) const;

  engine::vfs::JobFactsPtr m_facts;
  FilePlanPtr m_plan;
  Holders m_nobody;
  mutable std::map<std::size_t, PlacedTensor> m_tensors;  // those that were looked at
};

}  // namespace tessera::ui
