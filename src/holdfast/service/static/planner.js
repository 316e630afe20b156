// Sliders for the planner. Without scripts the fields beside them do the same.
"use strict";
for (const field of document.querySelectorAll("input[data-least]")) {
  const least = Math.log10(field.dataset.least), most = Math.log10(field.dataset.most);
  const slider = document.createElement("input");
  slider.type = "range";
  slider.min = least;
  slider.max = most;
  slider.step = (most - least) / 100;
  slider.value = field.value ? Math.log10(field.value.replace(/[,_]/g, "")) : (least + most) / 2;
  slider.setAttribute("aria-label", field.labels[0].textContent);
  slider.addEventListener("input", () => {
    const value = 10 ** slider.value;
    field.value = value < 1 ? value.toPrecision(2) : Number(value.toPrecision(2));
  });
  slider.addEventListener("change", () => {
    // Two of the three are given: the one that is moved takes the place of the one solved for.
    const fields = [...document.querySelectorAll("input[data-least]")];
    if (fields.every((each) => each.value)) {
      fields.find((each) => each !== field && each.name !== "rows").value = "";
    }
    field.form.requestSubmit();
  });
  field.after(slider);
}
