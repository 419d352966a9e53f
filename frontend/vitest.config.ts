import { defineConfig } from "vitest/config";

const local = (path: string): string => new URL(path, import.meta.url).pathname;

export default defineConfig({
  test: { include: ["tests/**/*.test.ts"], restoreMocks: true, unstubGlobals: true },
  resolve: {
    alias: {
      // The canvas is served by another package, and the viewer paints on a real canvas: neither is there without a browser.
      "drawable-canvas": local("tests/drawable-canvas.ts"),
      "viewer-bundle": local("tests/no-viewer.ts"),
    },
  },
});
