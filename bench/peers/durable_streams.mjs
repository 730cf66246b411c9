// The durable-streams server of its npm package: durable_streams.mjs PORT [FOLDER]; without a
// folder it keeps all in memory.
import { DurableStreamTestServer } from "@durable-streams/server"

const [port, dataDir] = process.argv.slice(2)
const server = new DurableStreamTestServer({ host: "127.0.0.1", port: Number(port), dataDir })
await server.start()
process.on("SIGTERM", async () => {
  await server.stop()
  process.exit(0)
})
