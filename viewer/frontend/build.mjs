// Builds viewer/bundle/viewer.js; with --check it only compares and says whether the committed bundle is current.

import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const here = new URL(".", import.meta.url);
const bundle = new URL("../bundle/viewer.js", here);

/** Of all that the bundle is made from; tests/unit/test_radiograph_viewer.py works it out the same way, without Node. */
async function digest() {
  const sources = (await readdir(new URL("src/", here))).sort().map((name) => `src/${name}`);
  const together = createHash("sha256");
  for (const name of [...sources, "build.mjs", "package-lock.json"]) together.update(await readFile(new URL(name, here)));
  return together.digest("hex");
}

const { outputFiles } = await build({
  entryPoints: ["src/index.ts"],
  absWorkingDir: here.pathname,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "inline",
  charset: "utf8",
  loader: { ".css": "text" },
  banner: { js: `/* Built from viewer/frontend/ (${await digest()}). Libraries in it: LICENSES.txt. */` },
  write: false,
});
const built = outputFiles[0].text;

if (process.argv.includes("--check")) {
  const committed = await readFile(bundle, "utf8").catch(() => "");
  if (committed !== built) {
    console.error("viewer/bundle/viewer.js is not what viewer/frontend/ builds. Run `make viewer` and commit the bundle.");
    process.exit(1);
  }
  console.log("viewer/bundle/viewer.js is current");
} else {
  await writeFile(bundle, built);
  console.log(`viewer/bundle/viewer.js: ${built.length} bytes`);
}
