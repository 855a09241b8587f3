// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// One bar cut by bytes, with its legend below.

#include <QColor>
#include <QString>
#include <QWidget>
#include <cstdint>
#include <vector>

namespace tessera::ui {

class StackedBar : public QWidget {
  Q_OBJECT

 public:
  enum class Tone { Stay, Inside, Network, Storage };
  struct Part {
    QString name;
    std::int64_t bytes = 0;
    Tone tone = Tone::Stay;
    friend bool operator==(const Part&, const Part&) = default;
  };

  explicit StackedBar(QWidget* parent = nullptr);
  /// The accessible name lists the parts.
  void setParts(std::vector<Part> parts);
  const std::vector<Part>& parts() const { return m_parts; }
  /// Numbers that a newer plan is about to replace are drawn faint and struck through.
  void setOutdated(bool outdated);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  int legendRows(int width) const;
  std::vector<Part> m_parts;
  bool m_outdated = false;
};

}  // namespace tessera::ui
