import"./chunk-T62IT7FX.js";
