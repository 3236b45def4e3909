// A canvas that fits its element and its screen's dots.

/** Fits the canvas, clears it, and calls `draw` with its size in the page's pixels. */
export function paint(
  canvas: HTMLCanvasElement,
  draw: (context: CanvasRenderingContext2D, width: number, height: number) => void,
): void {
  const { clientWidth: width, clientHeight: height } = canvas;
  const context = canvas.getContext('2d');
  if (!context || width === 0 || height === 0) return;
  const scale = Math.min(window.devicePixelRatio || 1, 3);
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  draw(context, width, height);
}

export const FONT = '11px "Inter Variable", system-ui, sans-serif';

export function dot(context: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
}
