import"./chunk-DDUZZARN.js";
