import"./chunk-JCO5E25Z.js";
