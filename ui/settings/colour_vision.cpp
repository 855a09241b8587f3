// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/settings/colour_vision.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace tessera::ui {
namespace {

using Vec = std::array<double, 3>;
using Matrix = std::array<Vec, 3>;

constexpr Matrix kProtan{{{0.152286, 1.052583, -0.204868},
                          {0.114503, 0.786281, 0.099216},
                          {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix kDeutan{{{0.367322, 0.860646, -0.227968},
                          {0.280085, 0.672501, 0.047413},
                          {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix kTritan{{{1.255528, -0.076749, -0.178779},
                          {-0.078411, 0.930809, 0.147602},
                          {0.004733, 0.691367, 0.303900}}};
// sRGB, D65 (IEC 61966-2-1).
constexpr Matrix kToXyz{{{0.4124564, 0.3575761, 0.1804375},
                         {0.2126729, 0.7151522, 0.0721750},
                         {0.0193339, 0.1191920, 0.9503041}}};
constexpr Vec kWhite{0.95047, 1.0, 1.08883};

Vec multiply(const Matrix& m, const Vec& v) {
  Vec out{};
  for (std::size_t i = 0; i < 3; ++i) out[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
  return out;
}

Vec linear(const QColor& color) {
  const auto one = [](double c) {
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return {one(color.redF()), one(color.greenF()), one(color.blueF())};
}

float encoded(double c) {
  c = std::clamp(c, 0.0, 1.0);
  return static_cast<float>(c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055);
}

Vec lab(const QColor& color) {
  const Vec xyz = multiply(kToXyz, linear(color));
  const auto f = [](double t) {
    constexpr double kDelta = 6.0 / 29;
    return t > kDelta * kDelta * kDelta ? std::cbrt(t) : t / (3 * kDelta * kDelta) + 4.0 / 29;
  };
  const double x = f(xyz[0] / kWhite[0]), y = f(xyz[1] / kWhite[1]), z = f(xyz[2] / kWhite[2]);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

}  // namespace

QColor asSeen(const QColor& color, ColourVision vision) {
  const Matrix* matrix = nullptr;
  switch (vision) {
    case ColourVision::Normal:
      return color;
    case ColourVision::Deutan:
      matrix = &kDeutan;
      break;
    case ColourVision::Protan:
      matrix = &kProtan;
      break;
    case ColourVision::Tritan:
      matrix = &kTritan;
      break;
  }
  const Vec seen = multiply(*matrix, linear(color));
  return QColor::fromRgbF(encoded(seen[0]), encoded(seen[1]), encoded(seen[2]), color.alphaF());
}

double colourDifference(const QColor& a, const QColor& b) {
  constexpr double kPi = std::numbers::pi;
  const Vec p = lab(a), q = lab(b);
  const auto pow7 = [](double x) { return std::pow(x, 7); };
  const double c1 = std::hypot(p[1], p[2]), c2 = std::hypot(q[1], q[2]);
  const double meanC7 = pow7((c1 + c2) / 2);
  const double g = 0.5 * (1 - std::sqrt(meanC7 / (meanC7 + pow7(25))));
  const double a1 = (1 + g) * p[1], a2 = (1 + g) * q[1];
  const double k1 = std::hypot(a1, p[2]), k2 = std::hypot(a2, q[2]);
  const auto hue = [&](double x, double y) {
    const double h = x == 0 && y == 0 ? 0 : std::atan2(y, x);
    return h < 0 ? h + 2 * kPi : h;
  };
  const double h1 = hue(a1, p[2]), h2 = hue(a2, q[2]);
  double dh = h2 - h1;
  double mean = (h1 + h2) / 2;
  if (k1 * k2 == 0) {
    dh = 0;
    mean = h1 + h2;
  } else if (std::abs(h1 - h2) > kPi) {
    dh += dh > 0 ? -2 * kPi : 2 * kPi;
    mean += h1 + h2 < 2 * kPi ? kPi : -kPi;
  }
  const double dL = q[0] - p[0], dC = k2 - k1, dH = 2 * std::sqrt(k1 * k2) * std::sin(dh / 2);
  const double meanL = (p[0] + q[0]) / 2, meanC = (k1 + k2) / 2;
  const double t = 1 - 0.17 * std::cos(mean - kPi / 6) + 0.24 * std::cos(2 * mean) +
                   0.32 * std::cos(3 * mean + kPi / 30) -
                   0.20 * std::cos(4 * mean - 63 * kPi / 180);
  const double l50 = (meanL - 50) * (meanL - 50);
  const double sL = 1 + 0.015 * l50 / std::sqrt(20 + l50);
  const double sC = 1 + 0.045 * meanC;
  const double sH = 1 + 0.015 * meanC * t;
  const double turn = (mean * 180 / kPi - 275) / 25;
  const double rT = -2 * std::sqrt(pow7(meanC) / (pow7(meanC) + pow7(25))) *
                    std::sin(kPi / 3 * std::exp(-turn * turn));
  const double x = dL / sL, y = dC / sC, z = dH / sH;
  return std::sqrt(x * x + y * y + z * z + rT * y * z);
}

}  // namespace tessera::ui
