// Builds viewer/bundle/viewer.js; with --check it only compares and says whether the committed bundle is current.

import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const bundle = new URL("../bundle/viewer.js", import.meta.url);
const { outputFiles } = await build({
  entryPoints: ["src/index.ts"],
  absWorkingDir: new URL(".", import.meta.url).pathname,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "inline",
  charset: "utf8",
  loader: { ".css": "text" },
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
