// The extension starts loupe lsp and lets vscode-languageclient speak with it.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** client is the connection to the server; undefined while there is none. */
let client;

/** command is how the server is started. */
function command() {
  const config = vscode.workspace.getConfiguration("loupe");
  const recording = config.get("recording");
  return { command: config.get("path") || "loupe", args: recording ? ["lsp", "-recording", recording] : ["lsp"] };
}

async function start() {
  try {
    client = new LanguageClient("loupe", "loupe", command(), { documentSelector: [{ scheme: "file", language: "go" }] });
    await client.start();
  } catch (e) {
    client = undefined;
    vscode.window.showErrorMessage(`loupe lsp does not start (setting loupe.path): ${e.message}`);
  }
}

async function stop() {
  const was = client;
  client = undefined;
  if (was) {
    await was.stop();
  }
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("loupe.restart", restart),
    vscode.workspace.onDidChangeConfiguration((e) => e.affectsConfiguration("loupe") && restart()),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
