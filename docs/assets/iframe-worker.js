// A page opened from the disk may start no worker. There, and only there, the search of the site
// runs in a hidden frame that speaks as the worker would, so that nothing has to be served.
// Messages are copies that arrive later, like a worker's: the sides share nothing.
if (location.protocol === "file:") {
  const deliver = (target, data) =>
    setTimeout(() => target?.onmessage?.(new MessageEvent("message", { data })));

  window.Worker = class {
    constructor(address) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (message) => deliver(this, structuredClone(message));
      const script = inside.document.createElement("script");
      this.ready = new Promise((resolve) => script.addEventListener("load", resolve));
      script.addEventListener("error", (event) => this.onerror?.(event));
      script.src = new URL(address, document.baseURI).href;
      inside.document.body.append(script);
    }

    postMessage(message) {
      const data = structuredClone(message);
      this.ready.then(() => deliver(this.frame.contentWindow, data));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
