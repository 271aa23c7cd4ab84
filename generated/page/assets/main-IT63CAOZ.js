import"./chunk-6527KE2G.js";
