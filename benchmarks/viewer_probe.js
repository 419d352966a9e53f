// Runs in the page before all other scripts. It measures times from an event to the frame in which the result is on screen.
(() => {
  const result = { value: null, scriptEnded: null };
  let form = null;
  const listShadowRoots = () => [...document.querySelectorAll("*")].map((element) => element.shadowRoot).filter(Boolean);
  const findForm = () => (form?.isConnected ? form : (form = listShadowRoots().map((root) => root.querySelector(".judging")).find(Boolean) ?? null));
  const findFrontImage = () => findForm()?.querySelector(".panes .pane, .stage .canvas-host") ?? null;

  /** The viewer shows its zoom when it paints the full matrix. The canvas of the basic editor has an image when it is not empty. */
  const isPainted = (image) => {
    if (!image) return false;
    if (image.matches(".pane")) return image.querySelector(".status").textContent.includes("%") && !image.querySelector(".notice").textContent.includes("8-bit");
    const canvas = image.querySelector(".dc-background-canvas");
    return Boolean(canvas && canvas.width > 300 && canvas.getContext("2d").getImageData(200, 200, 1, 1).data[3] > 0);
  };

  /** Call `callback(now)` after the first frame in which `isReady()` is true. */
  const callWhenOnScreen = (isReady, callback) => {
    const check = () => {
      if (!isReady()) return requestAnimationFrame(check);
      const channel = new MessageChannel();
      channel.port1.onmessage = () => callback(performance.now());
      return channel.port2.postMessage(0);
    };
    requestAnimationFrame(check);
  };

  /** Measure from the next event with this name until `waitForResult` calls its callback. */
  const measureFromEvent = (name, waitForResult) => {
    result.value = null;
    window.addEventListener(name, ({ timeStamp }) => waitForResult((now) => (result.value = now - timeStamp)), { capture: true, once: true });
  };

  window.bench = {
    result,
    isPainted: () => isPainted(findFrontImage()),
    /** Measure from the next key to the image of the next question. */
    measureNextQuestion: () => {
      const previousImage = findFrontImage();
      measureFromEvent("keydown", (done) => callWhenOnScreen(() => findFrontImage() !== previousImage && isPainted(findFrontImage()), done));
    },
    /** Measure from the next release of the mouse to the text "Draft saved". */
    measureDraftSave: () => {
      const savedLine = findForm().querySelector(".saved");
      measureFromEvent("pointerup", (done) => {
        const observer = new MutationObserver(() => {
          if (savedLine.textContent !== "Draft saved") return;
          observer.disconnect();
          done(performance.now());
        });
        observer.observe(savedLine, { childList: true, characterData: true, subtree: true });
      });
    },
    /** Measure from the next click to the end of the page's script and to the image on screen, in milliseconds. */
    measureEntry: () => {
      result.scriptEnded = null;
      measureFromEvent("click", (done) => {
        const start = performance.now();
        const observer = new MutationObserver(() => {
          const isRunning = document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "running";
          if (!isRunning && findForm() && result.scriptEnded === null) result.scriptEnded = performance.now() - start;
        });
        observer.observe(document.body, { attributes: true, childList: true, subtree: true });
        callWhenOnScreen(() => isPainted(findFrontImage()), done);
      });
    },
    /** Record the times of all frames from now on, and the number of frames with a new image. */
    startFrames: () => {
      const frames = { times: [], changes: 0, on: true };
      window.bench.frames = frames;
      const readState = () => findForm().querySelector(".pane .status")?.textContent ?? getComputedStyle(findForm().querySelector(".stage")).getPropertyValue("--light");
      let previousState = readState();
      const recordFrame = (time) => {
        if (!frames.on) return;
        frames.times.push(time);
        const state = readState();
        if (state !== previousState) frames.changes += 1;
        previousState = state;
        requestAnimationFrame(recordFrame);
      };
      requestAnimationFrame(recordFrame);
    },
  };
})();
