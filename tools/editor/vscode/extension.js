// Starts `hologram lsp` for .atlas and .graph texts.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const settings = workspace.getConfiguration("hologram");
  const server = { command: settings.get("command"), args: ["lsp", ...settings.get("arguments")] };
  client = new LanguageClient("hologram", "Hologram", server, {
    documentSelector: [{ language: "atlas" }],
    synchronize: { fileEvents: workspace.createFileSystemWatcher("**/*.{atlas,graph}") },
  });
  return client.start();
};

exports.deactivate = () => client && client.stop();
