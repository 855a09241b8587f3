// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The devices that hold the bytes of a file, or of one tensor in it, for the strip and the table.
/// Offsets are bytes in the file.

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
  /// A row of the table: bytes [begin, end). Bytes created when read have no holder.
  struct Run {
    std::int64_t begin = 0, end = 0;
    QString what = {};     // the tensor, in a file
    Holders holders = {};  // never null
  };
  /// The fraction, 0 to 1, of a column of the strip.
  struct Share {
    Holders holders;
    double part = 1;
  };
  using Column = std::vector<Share>;

  virtual ~PlacedBytes() = default;
  virtual std::int64_t begin() const = 0;
  virtual std::int64_t end() const = 0;
  /// Divides the bytes into `count` columns of equal width and returns the holders of each.
  virtual std::vector<Column> columns(int count) const = 0;
  /// Returns the longest run that contains a byte.
  /// \pre begin() <= byte && byte < end()
  virtual Run at(std::int64_t byte) const = 0;
  virtual int rowCount() const = 0;
  virtual Run row(int row) const = 0;
  /// The number of runs without a row.
  virtual std::int64_t more() const = 0;
};
using PlacedBytesPtr = std::shared_ptr<const PlacedBytes>;

class PlacedTensor final : public PlacedBytes {
 public:
  static constexpr int kMostRows = 256;

  /// \pre the plan belongs to a file of this job
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
  /// Returns the holders of the bytes [from, to), one column of the strip. If runs are about as
  /// short as a column, more bytes around it are averaged; otherwise neighbouring columns would
  /// differ only by the position of their edges.
  Column shares(std::int64_t from, std::int64_t to) const;
  /// All devices that hold some of the bytes, ascending.
  const Holders& devices() const { return m_devices; }
  /// The smallest number of devices that hold the same byte; 0 if there are no bytes.
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

/// A row is the header or a tensor. Rows are created on demand.
class PlacedFile final : public PlacedBytes {
 public:
  PlacedFile(engine::vfs::JobFactsPtr facts, FilePlanPtr plan);
  std::int64_t begin() const override { return 0; }
  std::int64_t end() const override { return m_plan->size(); }
  /// Returns for each column the tensor at its middle.
  std::vector<Column> columns(int count) const override;
  Run at(std::int64_t byte) const override;
  int rowCount() const override { return static_cast<int>(m_plan->entries().size()) + 1; }
  Run row(int row) const override;
  std::int64_t more() const override { return 0; }

 private:
  const PlacedTensor& tensor(std::size_t entry) const;
  /// Returns the entry of a byte after the header.
  std::size_t entryAt(std::int64_t byte) const;

  engine::vfs::JobFactsPtr m_facts;
  FilePlanPtr m_plan;
  Holders m_nobody;
  mutable std::map<std::size_t, PlacedTensor> m_tensors;  // those requested so far
};

}  // namespace tessera::ui
