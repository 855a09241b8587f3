// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/picture/svg_device.h"

#include <QBuffer>
#include <QGuiApplication>
#include <QImage>
#include <QPaintEngine>
#include <QPainter>
#include <QPainterPath>
#include <QPixmap>
#include <QScreen>
#include <QWidget>
#include <cmath>

namespace tessera::ui {
namespace {

constexpr int kSvgDigits = 6;
constexpr double kSvgDpi = 96;

/// That of the screen, so that fonts in points have the size that they have in the window.
double dotsPerInch() {
  const QScreen* const screen = QGuiApplication::primaryScreen();
  return screen == nullptr ? kSvgDpi : screen->logicalDotsPerInchY();
}

QByteArray svgNumber(double number) { return QByteArray::number(number, 'g', kSvgDigits); }

/// Control characters are no XML.
QByteArray svgText(QString text) {
  text.removeIf([](QChar letter) { return letter < QLatin1Char(32); });
  return text.toHtmlEscaped().toUtf8();
}

QByteArray svgPath(const QPainterPath& path) {
  QByteArray text;
  const auto point = [&text](const QPainterPath::Element& at) {
    text += svgNumber(at.x) + ' ' + svgNumber(at.y);
  };
  for (int i = 0; i < path.elementCount(); ++i) {
    const QPainterPath::Element& at = path.elementAt(i);
    switch (at.type) {
      case QPainterPath::MoveToElement:
        text += 'M';
        break;
      case QPainterPath::LineToElement:
        text += 'L';
        break;
      case QPainterPath::CurveToElement:
        text += 'C';
        break;
      case QPainterPath::CurveToDataElement:
        text += ' ';
        break;
    }
    point(at);
  }
  return text;
}

QByteArray svgMatrix(const QTransform& t) {
  if (t.isIdentity()) return {};
  return " transform=\"matrix(" + svgNumber(t.m11()) + ' ' + svgNumber(t.m12()) + ' ' +
         svgNumber(t.m21()) + ' ' + svgNumber(t.m22()) + ' ' + svgNumber(t.dx()) + ' ' +
         svgNumber(t.dy()) + ")\"";
}

/// ` fill="#rrggbb" fill-opacity="0.5"`.
QByteArray svgColour(const char* what, const QColor& colour, double opacity) {
  QByteArray text = QByteArray(" ") + what + "=\"" + colour.name().toLatin1() + '"';
  const double alpha = colour.alphaF() * opacity;
  if (alpha < 1) text += QByteArray(" ") + what + "-opacity=\"" + svgNumber(alpha) + '"';
  return text;
}

QByteArray svgPen(const QPen& pen, double opacity) {
  if (pen.style() == Qt::NoPen) return " stroke=\"none\"";
  const double width = pen.widthF() > 0 ? pen.widthF() : 1;
  QByteArray text = svgColour("stroke", pen.color(), opacity);
  text += " stroke-width=\"" + svgNumber(width) + '"';
  if (pen.isCosmetic()) text += " vector-effect=\"non-scaling-stroke\"";
  if (pen.capStyle() == Qt::RoundCap) text += " stroke-linecap=\"round\"";
  if (pen.capStyle() == Qt::SquareCap) text += " stroke-linecap=\"square\"";
  if (pen.joinStyle() == Qt::RoundJoin) text += " stroke-linejoin=\"round\"";
  if (pen.joinStyle() == Qt::BevelJoin) text += " stroke-linejoin=\"bevel\"";
  if (pen.style() == Qt::SolidLine) return text;
  QByteArray dashes;
  for (const qreal length : pen.dashPattern()) {
    dashes += (dashes.isEmpty() ? "" : " ") + svgNumber(length * width);
  }
  return text + " stroke-dasharray=\"" + dashes + "\" stroke-dashoffset=\"" +
         svgNumber(pen.dashOffset() * width) + '"';
}

}  // namespace

bool paintsPicture(const QPainter& painter, const QWidget& widget) {
  const QPaintEngine* const engine = painter.paintEngine();
  return engine->type() == QPaintEngine::SVG ||
         !qFuzzyCompare(engine->paintDevice()->devicePixelRatioF(), widget.devicePixelRatioF());
}

class SvgDevice::Engine : public QPaintEngine {
 public:
  // For what it lacks QPainter paints an image and draws that.
  Engine()
      : QPaintEngine(PaintEngineFeatures(AllFeatures) &
                     ~PaintEngineFeatures(PatternBrush | PerspectiveTransform | PorterDuff |
                                          LinearGradientFill | RadialGradientFill |
                                          ConicalGradientFill | ObjectBoundingModeGradients)) {}

  bool begin(QPaintDevice*) override { return true; }
  bool end() override { return true; }
  Type type() const override { return SVG; }

  void updateState(const QPaintEngineState& now) override {
    if (now.state() & (DirtyClipPath | DirtyClipRegion | DirtyClipEnabled)) m_isClipKnown = false;
  }

  void drawPath(const QPainterPath& path) override { add(path, state->brush()); }

  void drawPolygon(const QPointF* points, int count, PolygonDrawMode mode) override {
    QPainterPath path(points[0]);
    for (int i = 1; i < count; ++i) path.lineTo(points[i]);
    if (mode != PolylineMode) path.closeSubpath();
    path.setFillRule(mode == WindingMode ? Qt::WindingFill : Qt::OddEvenFill);
    add(path, mode == PolylineMode ? QBrush(Qt::NoBrush) : state->brush());
  }

  void drawImage(const QRectF& to, const QImage& image, const QRectF& from,
                 Qt::ImageConversionFlags) override {
    QByteArray png;
    QBuffer buffer(&png);
    buffer.open(QIODevice::WriteOnly);
    const QRect whole(QPoint(0, 0), image.size());
    const QRect part = from.toAlignedRect();
    (part == whole ? image : image.copy(part)).save(&buffer, "PNG");
    enterClip();
    m_body += "<image x=\"" + svgNumber(to.x()) + "\" y=\"" + svgNumber(to.y()) + "\" width=\"" +
              svgNumber(to.width()) + "\" height=\"" + svgNumber(to.height()) +
              "\" preserveAspectRatio=\"none\"" + svgMatrix(state->transform());
    if (state->opacity() < 1) m_body += " opacity=\"" + svgNumber(state->opacity()) + '"';
    m_body += " xlink:href=\"data:image/png;base64," + png.toBase64() + "\"/>\n";
  }

  void drawPixmap(const QRectF& to, const QPixmap& pixmap, const QRectF& from) override {
    drawImage(to, pixmap.toImage(), from, Qt::AutoColor);
  }

  // The base class fills the outlines of the letters.
  void drawTextItem(const QPointF& at, const QTextItem& item) override {
    enterClip();
    m_body += "<g role=\"img\" aria-label=\"" + svgText(item.text()) + "\">\n";
    QPaintEngine::drawTextItem(at, item);
    m_body += "</g>\n";
  }

  QByteArray content() const {
    return "<defs>\n" + m_clips + "</defs>\n" + m_body + (m_clip.isEmpty() ? "" : "</g>\n");
  }

 private:
  void add(const QPainterPath& path, const QBrush& brush) {
    if (path.isEmpty()) return;
    enterClip();
    m_body += "<path d=\"" + svgPath(path) + '"' + svgMatrix(state->transform());
    if (brush.style() == Qt::NoBrush) {
      m_body += " fill=\"none\"";
    } else {
      m_body += svgColour("fill", brush.color(), state->opacity());
      if (path.fillRule() == Qt::OddEvenFill) m_body += " fill-rule=\"evenodd\"";
    }
    m_body += svgPen(state->pen(), state->opacity()) + "/>\n";
  }

  /// Opens the group of what has the present clip. Its coordinates are those of the picture.
  void enterClip() {
    if (m_isClipKnown) return;
    m_isClipKnown = true;
    const QPainter* const now = painter();
    QPainterPath clip;
    if (now != nullptr && now->hasClipping()) clip = now->transform().map(now->clipPath());
    if (clip == m_clip) return;
    if (!m_clip.isEmpty()) m_body += "</g>\n";
    m_clip = clip;
    if (clip.isEmpty()) return;
    const QByteArray id = "clip" + QByteArray::number(++m_numClips);
    m_clips += "<clipPath id=\"" + id + "\"><path d=\"" + svgPath(clip) + "\"/></clipPath>\n";
    m_body += "<g clip-path=\"url(#" + id + ")\">\n";
  }

  QByteArray m_body, m_clips;
  QPainterPath m_clip;  // of the group that is open; empty: none is
  int m_numClips = 0;
  bool m_isClipKnown = false;
};

SvgDevice::SvgDevice(QSize size, int width, const QString& title, const QString& description)
    : m_size(size), m_engine(std::make_unique<Engine>()) {
  const double height = std::round(static_cast<double>(width) * size.height() / size.width());
  m_head =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
      "xmlns:xlink=\"http://www.w3.org/1999/xlink\" version=\"1.1\" width=\"" +
      QByteArray::number(width) + "\" height=\"" + svgNumber(height) + "\" viewBox=\"0 0 " +
      QByteArray::number(size.width()) + ' ' + QByteArray::number(size.height()) + "\">\n";
  if (!title.isEmpty()) m_head += "<title>" + svgText(title) + "</title>\n";
  if (!description.isEmpty()) m_head += "<desc>" + svgText(description) + "</desc>\n";
}

SvgDevice::~SvgDevice() = default;

QByteArray SvgDevice::bytes() const { return m_head + m_engine->content() + "</svg>\n"; }

QPaintEngine* SvgDevice::paintEngine() const { return m_engine.get(); }

int SvgDevice::metric(PaintDeviceMetric metric) const {
  constexpr double kMillimetres = 25.4;
  const auto millimetres = [](int pixels) { return qRound(pixels * kMillimetres / kSvgDpi); };
  switch (metric) {
    case PdmWidth:
      return m_size.width();
    case PdmHeight:
      return m_size.height();
    case PdmWidthMM:
      return millimetres(m_size.width());
    case PdmHeightMM:
      return millimetres(m_size.height());
    case PdmDpiX:
    case PdmDpiY:
    case PdmPhysicalDpiX:
    case PdmPhysicalDpiY:
      return qRound(dotsPerInch());
    case PdmNumColors:
      return 0;  // any
    case PdmDepth:
      return 32;
    case PdmDevicePixelRatio:
      return 1;
    case PdmDevicePixelRatioScaled:
      return static_cast<int>(devicePixelRatioFScale());
  }
  return 0;
}

}  // namespace tessera::ui
