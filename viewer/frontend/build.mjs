// Builds viewer/bundle/viewer.js and viewer-worker.js; with --check it only compares them with those committed.

import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { build } from "esbuild";

const here = new URL(".", import.meta.url);

/** Of all that the bundle is made from; tests/unit/test_radiograph_viewer.py works it out the same way, without Node. */
async function digest() {
  const sources = (await readdir(new URL("src/", here))).sort().map((name) => `src/${name}`);
  const together = createHash("sha256");
  for (const name of [...sources, "build.mjs", "package-lock.json"]) together.update(await readFile(new URL(name, here)));
  return together.digest("hex");
}

const banner = `/* Built from viewer/frontend/ (${await digest()}). Libraries in it: LICENSES.txt. */`;
const { outputFiles } = await build({
  entryPoints: { viewer: "src/index.ts", "viewer-worker": "src/worker.ts" },
  outdir: "../bundle",
  absWorkingDir: here.pathname,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "inline",
  charset: "utf8",
  loader: { ".css": "text" },
  banner: { js: banner },
  write: false,
});

for (const { path, text: built } of outputFiles) {
  const name = `viewer/bundle/${basename(path)}`;
  if (!process.argv.includes("--check")) {
    await writeFile(path, built);
    console.log(`${name}: ${built.length} bytes`);
    continue;
  }
  const committed = await readFile(path, "utf8").catch(() => "");
  if (committed !== built) {
    console.error(`${name} is not what viewer/frontend/ builds. Run \`make viewer\` and commit the bundle.`);
    process.exit(1);
  }
  console.log(`${name} is current`);
}
