// Runs in the page before anything of it does, and takes times where the person would: at the event and on screen.
(() => {
  const found = { value: null, ended: null };
  let form = null;
  const roots = () => [...document.querySelectorAll("*")].map((each) => each.shadowRoot).filter(Boolean);
  const judging = () => (form?.isConnected ? form : (form = roots().map((root) => root.querySelector(".judging")).find(Boolean) ?? null));
  const front = () => judging()?.querySelector(".panes .pane, .stage .canvas-host") ?? null;

  /** The viewer says its zoom with the first paint of the full matrix; the canvas has a picture once it is not empty. */
  const isPainted = (shown) => {
    if (!shown) return false;
    if (shown.matches(".pane")) return shown.querySelector(".status").textContent.includes("%") && !shown.querySelector(".lack").textContent.includes("8 bits");
    const canvas = shown.querySelector(".dc-background-canvas");
    return Boolean(canvas && canvas.width > 300 && canvas.getContext("2d").getImageData(200, 200, 1, 1).data[3] > 0);
  };

  /** `then(now)` once the frame in which `ready()` held is done. */
  const onceOnScreen = (ready, then) => {
    const look = () => {
      if (!ready()) return requestAnimationFrame(look);
      const after = new MessageChannel();
      after.port1.onmessage = () => then(performance.now());
      return after.port2.postMessage(0);
    };
    requestAnimationFrame(look);
  };

  const fromEvent = (name, arm) => {
    found.value = null;
    window.addEventListener(name, ({ timeStamp }) => arm((now) => (found.value = now - timeStamp)), { capture: true, once: true });
  };

  window.bench = {
    found,
    isPainted: () => isPainted(front()),
    /** From the next key to the next question's image. */
    armNext: () => {
      const before = front();
      fromEvent("keydown", (done) => onceOnScreen(() => front() !== before && isPainted(front()), done));
    },
    /** From the next time the mouse is let go to "draft kept". */
    armKept: () => {
      const line = judging().querySelector(".saved");
      fromEvent("pointerup", (done) => {
        const watch = new MutationObserver(() => {
          if (line.textContent !== "draft kept") return;
          watch.disconnect();
          done(performance.now());
        });
        watch.observe(line, { childList: true, characterData: true, subtree: true });
      });
    },
    /** From the next click: when the page's script has ended, and when the image is on screen, in milliseconds. */
    armEntry: () => {
      found.ended = null;
      fromEvent("click", (done) => {
        const begun = performance.now();
        const watch = new MutationObserver(() => {
          const isRunning = document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "running";
          if (!isRunning && judging() && found.ended === null) found.ended = performance.now() - begun;
        });
        watch.observe(document.body, { attributes: true, childList: true, subtree: true });
        onceOnScreen(() => isPainted(front()), done);
      });
    },
    /** Frames from now on: their times, and how many of them showed something new. */
    startFrames: () => {
      const frames = { times: [], changes: 0, on: true };
      window.bench.frames = frames;
      const look = () => judging().querySelector(".pane .status")?.textContent ?? getComputedStyle(judging().querySelector(".stage")).getPropertyValue("--light");
      let before = look();
      const frame = (time) => {
        if (!frames.on) return;
        frames.times.push(time);
        const now = look();
        if (now !== before) frames.changes += 1;
        before = now;
        requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    },
  };
})();
