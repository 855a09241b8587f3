// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The bars above the views: problems and special states of link, job, draft and shown moment.

#include <QCoreApplication>
#include <QStringList>
#include <QTimer>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>

#include "ui/views/shown_layout.h"

class QWidget;

namespace tessera::ui {

class ClusterModel;
class MoveControl;
class NoticeBar;
struct NoticeWords;
class OperatorSeat;
struct ChangeDiff;

/// In the order in which they are shown.
enum class Notice { Link, Operator, Job, Tuning, Record, Error, Draft, Past, Lesson, kCount };

/// What the bars depend on, besides the models.
struct NoticeFacts {
  LayoutSource source = LayoutSource::Live;
  std::optional<QString> starting = {};  // a cluster of this machine: what it does now
  bool countsDown = false;               // a draft is about to be applied
  struct Moment {
    double time = 0;  // wall clock
    std::int64_t step = 0;
  };
  std::optional<Moment> moment = {};     // shown in the source Past
  const ChangeDiff* compared = nullptr;  // two changes of the history, in the source Live
  QString lesson = {};                   // its title, in the source Lesson
};

class Notices {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MainWindow)

 public:
  static constexpr int kErrorSeconds = 15;

  struct Parts {
    const ClusterModel& model;
    const MoveControl& control;
    const OperatorSeat& seat;
    /// The command line of tesseractl with these words, for the shown cluster.
    std::function<QString(const QStringList& words)> commandLine;
  };

  /// All parts outlive the notices; `parent` owns the bars.
  Notices(Parts parts, QWidget* parent);
  NoticeBar* bar(Notice which) const { return m_bars[static_cast<std::size_t>(which)]; }
  const auto& bars() const { return m_bars; }
  /// Shows and hides every bar but Error.
  void refresh(const NoticeFacts& facts);
  /// Shows a problem for kErrorSeconds.
  void showError(const QString& text);

 private:
  void refreshOperator();
  void refreshRecord();
  void refreshSource(const NoticeFacts& facts);
  // What these bars say; nothing: they are hidden. A bar that stays is never hidden in between, or
  // its button would lose the keyboard focus with every tick.
  std::optional<NoticeWords> linkWords(const NoticeFacts& facts) const;
  std::optional<NoticeWords> jobWords() const;
  /// Whether a cluster, not a file, is shown.
  bool hasCluster() const;

  Parts m_parts;
  std::array<NoticeBar*, static_cast<std::size_t>(Notice::kCount)> m_bars;
  QTimer m_errorTimer;
};

}  // namespace tessera::ui
