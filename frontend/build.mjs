// Builds dist/ from src/; with --check it only compares dist/ with what src/ builds.

import { createHash } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { build } from "esbuild";

const here = new URL(".", import.meta.url);
const dist = new URL("dist/", here);

/** Of all that the bundles are made from; tests/unit/test_form_files.py works it out the same way, without Node. */
async function digest() {
  const entries = await readdir(new URL("src/", here), { recursive: true, withFileTypes: true });
  const sources = entries.filter((entry) => entry.isFile()).map((entry) => `${entry.parentPath}/${entry.name}`.slice(here.pathname.length));
  const hash = createHash("sha256");
  for (const name of [...sources.sort(), "build.mjs", "package-lock.json", "../domain/shortcuts.json"]) hash.update(await readFile(new URL(name, here)));
  return hash.digest("hex");
}

/** What is a file of its own beside the bundles: the viewer, so that a form works without it, and the canvas of another package. */
const besideBundles = {
  name: "beside-bundles",
  setup({ onResolve }) {
    onResolve({ filter: /^viewer-bundle$/ }, () => ({ path: "./viewer.js", external: true }));
    onResolve({ filter: /^drawable-canvas$/ }, () => ({ path: "./canvas.js", external: true }));
  },
};

const banner = `/* Built from frontend/src/ (${await digest()}). Libraries in it: LICENSES.txt. */`;
const shared = {
  outdir: dist.pathname,
  absWorkingDir: here.pathname,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "inline",
  charset: "utf8",
  banner: { js: banner, css: banner },
  write: false,
  plugins: [besideBundles],
};
const scripts = await build({
  ...shared,
  entryPoints: {
    viewer: "src/viewer/index.ts",
    "viewer-worker": "src/viewer/worker.ts",
    review: "src/review/review-form.ts",
    reading: "src/reading/reading-form.ts",
    adjudication: "src/adjudication/adjudication-form.ts",
    connection: "src/connection/connection.ts",
    figure: "src/figure/figure.ts",
    "unsaved-input": "src/unsaved-input/unsaved-input.ts",
  },
  loader: { ".css": "text" }, // the viewer brings its own style
});
const styles = await build({
  ...shared,
  entryPoints: {
    review: "src/review/review.css",
    reading: "src/reading/reading.css",
    adjudication: "src/adjudication/adjudication.css",
    connection: "src/connection/connection.css",
    figure: "src/figure/figure.css",
    "unsaved-input": "src/unsaved-input/unsaved-input.css",
  },
});

const built = new Map([...scripts.outputFiles, ...styles.outputFiles].map(({ path, text }) => [basename(path), text]));
const present = (await readdir(dist)).filter((name) => /\.(js|css)$/.test(name));
if (process.argv.includes("--check")) {
  const stale = [...new Set([...built.keys(), ...present])].filter((name) => !present.includes(name) || !built.has(name));
  for (const name of present) if (built.has(name) && (await readFile(new URL(name, dist), "utf8")) !== built.get(name)) stale.push(name);
  if (stale.length) console.error(`frontend/dist/ is not what frontend/src/ builds: ${stale.join(", ")}. Run \`make frontend\` and commit it.`);
  else console.log("frontend/dist/ is current");
  process.exit(stale.length ? 1 : 0);
}
for (const name of present) if (!built.has(name)) await rm(new URL(name, dist));
for (const [name, text] of built) {
  await writeFile(new URL(name, dist), text);
  console.log(`frontend/dist/${name}: ${text.length} bytes`);
}
