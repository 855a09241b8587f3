// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Makes TensorLayouts on a thread: of a job at its places, or of a model of the catalogue.

#include <QObject>
#include <QString>
#include <QThreadPool>
#include <functional>
#include <optional>

#include "engine/vfs/job_facts.h"
#include "ui/models/job_place.h"
#include "ui/models/tensor_layouts.h"

namespace tessera::ui {

class LayoutMaker : public QObject {
  Q_OBJECT

 public:
  explicit LayoutMaker(QObject* parent = nullptr);
  ~LayoutMaker() override;

  /// Requests the tensors of a job. `live` are the options of the layout in `state`. An equal
  /// request is ignored; the previous layouts stay until the new ones are made.
  void request(const engine::vfs::JobFactsPtr& state, const engine::StepOptions& live,
               const std::optional<JobPlace>& now, const std::optional<JobPlace>& next);
  /// Requests a model of the catalogue on nodes of eight GPUs.
  void requestModel(const QString& model, const QString& mesh);
  /// Discards request and layouts.
  void clear();

  const TensorLayouts::Ptr& layouts() const { return m_layouts; }
  bool isBusy() const { return m_busy; }
  /// Why the last request failed, as one sentence; empty if it did not.
  const QString& problem() const { return m_problem; }

 signals:
  void changed();

 private:
  /// What a request depends on.
  struct Key {
    QString model, mesh;
    std::uint64_t layout = 0;
    std::optional<JobPlace> now, next;
    friend bool operator==(const Key&, const Key&) = default;
  };
  void run(Key key, std::function<Result<TensorLayouts::Ptr>()> make);

  std::optional<Key> m_key;
  std::uint64_t m_generation = 0;  // older answers are dropped
  bool m_busy = false;
  QString m_problem;
  TensorLayouts::Ptr m_layouts;
  QThreadPool m_pool;
};

}  // namespace tessera::ui
